"""Explorations of the course's own stages, over a real process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from grader.course.manifest import load_course
from grader.course.stage import Course, Limits, Stage
from grader.explore.example import example
from grader.explore.model import Example, Exploration, Part
from grader.explore.session import explore
from grader.submission import take
from tests.support.places import HIDDEN, ROOT

REFERENCE = (HIDDEN / "s15_attention" / "solution.py").read_text(encoding="utf-8")


BLOCKS = (Path(__file__).parent / "explored" / "blocks.txt").read_text(encoding="utf-8")


COURSE = load_course(ROOT)


Explore = Callable[..., Exploration]


@pytest.fixture
def walk(tmp_path: Path) -> Explore:
    """Explore a module's text: of stage 15, or of the blocks."""

    def run(
        text: str,
        sentence: Example | None = None,
        stage: Stage | None = None,
        seconds: float = 10,
        seed: int = 0,
        course: Course = COURSE,
    ) -> Exploration:
        chosen = stage or course.find("s15")
        chosen = replace(chosen, limits=Limits(30, seconds, 1024))
        file = tmp_path / chosen.module
        file.write_text(text, encoding="utf-8")
        found = sentence or example(None, None, None)
        return explore(course, chosen, take(chosen, file, course.root), found, seed, "process")

    return run


def parts(found: Exploration) -> dict[str, Part]:
    return {part.id: part for step in found.steps for part in step.parts}
