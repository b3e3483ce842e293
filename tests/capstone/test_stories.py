"""The capstone of this course: its text is its generator's, and its script does with the references what it says."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from grader.capstone.checkpoint import Checkpoints
from grader.capstone.plan import FOLDER, CapstoneManifest, read_plan
from grader.capstone.session import Setting, train, write
from grader.course.manifest import load_course
from grader.course.provided import serving_stage
from grader.submission import Snapshot
from grader.submission.earlier import used_modules
from tests.support.places import ROOT

COURSE = load_course(ROOT)
SMALL = {"merges": 8, "merges_from": 400, "context_length": 12, "dim": 8, "heads": 2, "batch": 4, "warmup": 2}


@pytest.fixture(scope="module")
def plan() -> CapstoneManifest:
    """The course's own, of a size that trains in a moment."""
    found = read_plan(COURSE)
    return replace(found, text=found.text[:4000], steps=6, chunk=4, tokens=20, settings={**found.settings, **SMALL})


@pytest.fixture
def script(plan: CapstoneManifest) -> Iterator[Any]:
    """The script in this process, on the references."""
    names: dict[str, Any] = {}
    with serving_stage(plan.stage):
        exec(compile(plan.source, "train.py", "exec"), names)
        yield SimpleNamespace(**names)


def test_the_same_seed_gives_the_same_stories() -> None:
    from hidden.capstone.stories import TARGET, text

    assert TARGET.read_text(encoding="utf-8") == text()


def test_it_is_made_of_stages_that_stand_there() -> None:
    assert [each.id for each in read_plan(COURSE).stage.builds_on] == ["s05", "s10", "s17", "s18"]


def test_it_trains_measures_and_writes_on_the_references(plan: CapstoneManifest, tmp_path: Path) -> None:
    place = plan.stage.module_path
    snapshot = Snapshot("train.py", plan.source, "0" * 64, place, f"{FOLDER}/train.py", uses=used_modules(plan.stage))
    setting = Setting(plan, snapshot, "process", Checkpoints(tmp_path), COURSE)
    steps: list[int] = []
    with setting.checkpoints.locked():
        found = train(setting, None, lambda moment: steps.append(moment.step))
    assert steps == [0, 4, 6] and found.vocabulary_size == 256 + SMALL["merges"]
    assert found.moment.losses[-1] < found.moment.losses[0] and 1 < found.perplexity < 2 * found.vocabulary_size
    assert found.text.startswith(plan.prompt) and len(found.text) > len(plan.prompt)
    assert write(setting, "", 5, 0.8, 1)[1] == write(setting, "", 5, 0.8, 1)[1]


def test_each_token_but_the_first_is_measured_once_and_after_what_the_model_may_see(
    plan: CapstoneManifest, script: Any
) -> None:
    settings, length = plan.settings, SMALL["context_length"]
    for size in (2, length, length + 1, length + 2, 40):
        ids = np.random.default_rng(size).integers(0, 264, size=size)
        prepared = {"vocabulary_size": 264, "held_out": ids}
        state = script.begin(prepared, settings, 1)
        model = script.GPT(264, length, settings["depth"], 8, 2)
        model.params = state["params"]
        total, counted = 0.0, 1
        while counted < size:  # windows of length tokens and the one that follows, overlapping by half
            until = length + 1 if counted == 1 else counted + length // 2
            until = min(until, size)
            start = max(0, until - 1 - length)
            logits = model.forward(ids[None, start : until - 1])[0]
            for place in range(counted, until):
                row = logits[place - 1 - start]
                total += math.log(np.exp(row).sum()) - row[ids[place]]
            counted = until
        assert script.measure(state, prepared, settings) == pytest.approx(total / (size - 1))


def test_a_step_depends_on_seed_and_number_alone(plan: CapstoneManifest, script: Any) -> None:
    prepared = script.prepare(*plan.parts, plan.settings)
    state = script.begin(prepared, plan.settings, 1)
    whole, losses = script.advance(state, prepared, plan.settings, 1, 0, 3, 6)
    first, one = script.advance(state, prepared, plan.settings, 1, 0, 1, 6)
    both, two = script.advance(first, prepared, plan.settings, 1, 1, 2, 6)
    assert one + two == losses
    assert all((both["params"][name] == value).all() for name, value in whole["params"].items())
    other, _ = script.advance(state, prepared, plan.settings, 2, 0, 3, 6)
    assert any((other["params"][name] != value).any() for name, value in whole["params"].items())
