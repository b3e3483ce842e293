"""Help for the tests of what stages draw: references, stubs and broken modules explored in a real process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drawings.plans import PLANS
from grader.course.manifest import load_course
from grader.course.stage import Limits, Stage
from grader.explore.example import example
from grader.explore.model import Array, Chart, Curves, Drawing, Example, Exploration, Image, Images, Map, Part, Plane
from grader.explore.session import explore
from grader.submission import take
from grader.submission.earlier import used_modules
from tests.support.places import HIDDEN, ROOT

COURSE = load_course(ROOT)
STAGES = {stage.id for stage in COURSE.stages}


def reference(stage: str) -> str:
    """Return the text of a stage's reference; skip where the course has no such stage."""
    if stage not in STAGES:
        pytest.skip(f"no stage {stage} here")
    return (HIDDEN / COURSE.find(stage).name / "solution.py").read_text(encoding="utf-8")


def explored(
    folder: Path, stage: str | Stage, text: str | None = None, seed: int = 0, seconds: float = 20,
    sentence: Example | None = None,
) -> Exploration:  # fmt: skip
    """Explore a module's text, by default the reference, in a plain process; by default the sentence of the lesson."""
    found = COURSE.find(stage) if isinstance(stage, str) else stage
    text = reference(found.id) if text is None else text
    sentence = example(None, None, None) if sentence is None and PLANS[found.id].of_sentence else sentence
    chosen = replace(found, limits=Limits(120, seconds, 1024))
    file = folder / chosen.module
    file.write_text(text, encoding="utf-8")
    snapshot = replace(take(chosen, file, COURSE.root), uses=used_modules(chosen))
    return explore(COURSE, chosen, snapshot, sentence, seed, "process")


def stubbed(folder: Path, stage: str) -> Exploration:
    """Explore the stub of a stage."""
    reference(stage)
    return explored(folder, stage, COURSE.find(stage).module_path.read_text(encoding="utf-8"))


def broken(stage: str, function: str, body: str) -> str:
    """Return the reference with one function replaced; the right one is _right, and a method has self and args."""
    name, given = ("_wrong", "self, *args") if "." in function else (function, "*args, **kwargs")
    text = f"{reference(stage)}\n\n_right = {function}\n\n\ndef {name}({given}):\n    {body}\n"
    return text if name == function else f"{text}\n\n{function} = {name}\n"


def wrong_is_told(
    stage: str, rows: list[tuple[str, str, str, str, str]], looks: bool = False, one_in: int = 3, **how: Any
) -> Callable[..., None]:
    """Return a test of a stage: for each function with a wrong body, the part that tells of it, its status and words.

    looks says that the function is also the one to look at; by default one in so many is run; how goes to `explored`.
    """

    @pytest.mark.some_of(one_in)
    @pytest.mark.parametrize(("function", "body", "part", "status", "message"), rows)
    def test(tmp_path: Path, function: str, body: str, part: str, status: str, message: str) -> None:
        found = explored(tmp_path, stage, broken(stage, function, body), **how)
        assert (found.fine, parts(found)[part].status) == (False, status)
        assert message in parts(found)[part].message
        assert found.look_at == function or not looks

    return test


def softmax(scores: Array) -> Array:
    powers: Array = np.exp(scores)
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def parts(found: Exploration) -> dict[str, Part]:
    """Return what came of each call."""
    return {part.id: part for step in found.steps for part in step.parts}


def drawing(found: Exploration, name: str) -> Drawing:
    """Return the drawing of that id."""
    return next(each for each in found.drawings if each.id == name)


def charts(found: Exploration, name: str) -> dict[str, Chart]:
    """Return the panels of curves by their titles."""
    curves = drawing(found, name)
    assert isinstance(curves, Curves)
    return {panel.title: panel for panel in curves.panels}


def maps(found: Exploration, name: str) -> dict[str, Map]:
    """Return the panels of a plane by their titles."""
    plane = drawing(found, name)
    assert isinstance(plane, Plane)
    return {panel.title: panel for panel in plane.panels}


def images(found: Exploration, name: str) -> dict[str, Image]:
    """Return the panels of images by their titles."""
    shown = drawing(found, name)
    assert isinstance(shown, Images)
    return {panel.title: panel for panel in shown.panels}
