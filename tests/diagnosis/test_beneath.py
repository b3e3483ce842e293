"""A right module computes with the learner's own earlier module, which stays in the learner's process."""

from __future__ import annotations

import hashlib
import os
import sys
import types
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grader.course.answers import hidden_folder, module_from
from grader.course.manifest import load_course
from grader.course.stage import Stage
from grader.diagnosis import beneath
from grader.diagnosis.beneath import own_beneath
from grader.judging.grading import Grader, Options
from grader.outcome import CUT
from grader.submission import Snapshot
from grader.submission.earlier import used_modules
from tests.conftest import Start
from tests.slips.bank import slips_of
from tests.support.places import ROOT

NAME = "stages.s90_small.layers"
LAYERS = b"""
import os

class Layer:
    def __init__(self, size, rng):
        if size < 1:
            raise ValueError("size: %d" % size)
        self.params = {"w": rng.standard_normal(size)}
        self.inner = [Part(3), Part(5)]
        self.grads = {}

    def forward(self, x):
        x += 100  # on its own copy, unless the caller sees it
        return x * self.params["w"]

    def process(self):
        return os.getpid()

class Part:
    def __init__(self, by):
        self.by = by

    def __call__(self, x):
        return x * self.by

def first(parts):
    return parts[0](1)
"""
RIGHT = f"""
from {NAME} import Layer, first


def made(size, rng):
    return Layer(size, rng=rng), rng.standard_normal()


def scaled(layer, x):
    layer.params = {{"w": 2 * layer.params["w"]}}
    return layer.forward(x)


def parts(layer):
    return [each(2) for each in layer.inner], first(layer.inner[::-1])
"""


@pytest.fixture
def right(start: Start) -> Iterator[types.ModuleType]:
    learner = start("def scale(x): return x\n", lent=((NAME, "stages/s90_small/layers.py", LAYERS),))
    learner.open()
    with own_beneath(learner.connection, [NAME]):
        yield module_from(RIGHT, "right")
    learner.process.kill()


def test_what_it_asks_is_answered_by_the_learners_objects(right: types.ModuleType) -> None:
    layer, _ = right.made(2, np.random.default_rng(1))
    drawn = np.random.default_rng(1).standard_normal(2)
    assert right.scaled(layer, np.ones(2)) == pytest.approx(2 * 101 * drawn)
    assert layer.params["w"] == pytest.approx(2 * drawn)
    assert right.parts(layer) == ([6, 10], 5)
    assert not hasattr(layer, "nothing")


def test_what_is_changed_or_drawn_there_is_changed_and_drawn_here(right: types.ModuleType) -> None:
    rng, twin, x = np.random.default_rng(1), np.random.default_rng(1), np.ones(3)
    layer, then = right.made(3, rng)
    assert then == twin.standard_normal(4)[3]
    layer.forward(x)
    assert x.tolist() == [101.0] * 3


def test_exceptions_are_of_the_kind_that_was_raised(right: types.ModuleType) -> None:
    with pytest.raises(ValueError, match="size: 0"):
        right.made(0, np.random.default_rng(1))


def test_none_of_its_code_runs_here(right: types.ModuleType) -> None:
    layer, _ = right.made(2, np.random.default_rng(1))
    assert layer.process() not in (os.getpid(), None)


def test_afterwards_it_cannot_be_imported_any_more(start: Start) -> None:
    learner = start("def scale(x): return x\n", lent=((NAME, "stages/s90_small/layers.py", LAYERS),))
    learner.open()
    with own_beneath(learner.connection, [NAME]):
        assert NAME in sys.modules
    assert NAME not in sys.modules
    with pytest.raises(ModuleNotFoundError):
        module_from(RIGHT, "right")
    learner.process.kill()


class TestAGrading:
    """A layer of experts that forgets its gates, on blocks of the learner's own, whose GELU is that by tanh."""

    ROW = "moe-forward"

    def test_what_is_wrong_above_ones_own_module_is_named(self) -> None:
        assert self.told() == {("gates-left-out", "MoELayer.forward", "")}

    def test_a_module_that_takes_too_many_lines_is_left_aside(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(beneath, "STEPS", 100)
        assert self.told() == {("", "", "")}

    def test_what_the_clock_ends_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(beneath, "FAR_SECONDS", 0.0)
        assert self.told() == {("", "", CUT)}

    def told(self) -> set[tuple[str, str, str]]:
        """Return the causes and functions that the row is told, and why there is no more."""
        course = load_course(ROOT)
        stage, below = course.find("s21"), course.find("s17")
        mine = _module(below, (hidden_folder(below) / "alternatives" / "tanh_and_std.py").read_bytes())
        slip = next(each for each in slips_of("s21") if each.id == "gates-forgotten-in-the-sum")
        snapshot = _module(stage, slip.source.encode())
        uses = used_modules(stage, lambda used: mine if used is below else None, lambda *_: True)
        snapshot = replace(snapshot, uses=uses)
        with Grader(course, stage) as grader:
            verdict = grader.grade(snapshot, Options(1, only=self.ROW))
        row = next(each for each in verdict.criteria if each.id == self.ROW)
        found = [(each.diagnosis, each.unexplained) for each in row.failures]
        return {(each.cause, each.function, why) if each else ("", "", why) for each, why in found}


def _module(stage: Stage, text: bytes) -> Snapshot:
    return Snapshot(stage.module, text, hashlib.sha256(text).hexdigest(), Path(stage.module), stage.module)
