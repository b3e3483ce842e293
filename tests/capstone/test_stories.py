"""The capstone of this course: its text is its generator's, and its script does with the references what it says."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
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
from grader.course.table import read_toml
from grader.submission import Snapshot
from grader.submission.earlier import used_modules
from tests.support.places import ROOT

COURSE = load_course(ROOT)
SMALL = {"merges": 8, "merges_from": 400, "context_length": 12, "dim": 8, "heads": 2, "batch": 4, "warmup": 2}
NARROW = {"kv_heads": 1, "hidden": 10, "window": 5}
MODELS: Any = read_toml(ROOT / FOLDER / "capstone.toml", "capstone.toml")["models"]


@pytest.fixture(scope="module", params=MODELS)
def plan(request: pytest.FixtureRequest) -> CapstoneManifest:
    """The course's own with one of its models, of a size that trains in a moment."""
    found, name = read_plan(COURSE), request.param
    sizes = {**MODELS[name], **(NARROW if MODELS[name] else {}), "model": name, "own_loop": False}
    settings = {**found.settings, **SMALL, **sizes}
    return replace(found, text=found.text[:4000], steps=6, chunk=4, tokens=20, model=name, settings=settings)


@contextmanager
def scripted(plan: CapstoneManifest) -> Iterator[Any]:
    """The script in this process, on the references."""
    names: dict[str, Any] = {}
    with serving_stage(plan.stage):
        exec(compile(plan.source, "train.py", "exec"), names)
        yield SimpleNamespace(**names)


@pytest.fixture
def script(plan: CapstoneManifest) -> Iterator[Any]:
    with scripted(plan) as names:
        yield names


def test_the_same_seed_gives_the_same_stories() -> None:
    from hidden.capstone.stories import TARGET, text

    assert TARGET.read_text(encoding="utf-8") == text()


def test_it_is_made_of_stages_that_stand_there() -> None:
    assert [each.id for each in read_plan(COURSE).stage.builds_on] == ["s05", "s10", "s17", "s18", "s23"]


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
        sizes = settings["depth"], 8, 2
        model = (
            script.GPT(264, length, *sizes) if plan.model == "s18" else script.ModernGPT(264, *sizes, 1, 10, window=5)
        )
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


def test_there_are_two_models_of_one_size() -> None:
    assert list(MODELS) == ["s18", "s23"] and read_plan(COURSE).model in MODELS
    held, plan = {}, read_plan(COURSE)
    with scripted(plan) as script:
        for name, sizes in MODELS.items():
            model = script._model(416, {**plan.settings, **sizes, "model": name}, np.random.default_rng(0))
            held[name] = sum(value.size for value in model.params.values())
    assert 0.98 * held["s18"] < held["s23"] <= held["s18"]


def test_the_loop_of_s23_takes_the_steps_where_it_is_the_learners(plan: CapstoneManifest, script: Any) -> None:
    prepared = script.prepare(*plan.parts, plan.settings)
    begun = script.begin(prepared, plan.settings, 1)
    lent, losses = script.advance(begun, prepared, plan.settings, 1, 0, 3, 6)
    taken: list[int] = []
    names = script.advance.__globals__
    loop = names["train"]

    def watched(*arguments: Any, **more: Any) -> Any:
        taken.append(arguments[4])
        return loop(*arguments, **more)

    names["train"] = watched
    own = {**plan.settings, "own_loop": True}
    first, one = script.advance(begun, prepared, own, 1, 0, 2, 6)
    both, two = script.advance(first, prepared, own, 1, 2, 1, 6)
    assert taken == [2, 1] and one + two == pytest.approx(losses)
    for name, value in lent["params"].items():
        np.testing.assert_allclose(both["params"][name], value, atol=1e-12)
    script.advance(begun, prepared, plan.settings, 1, 0, 1, 6)
    assert taken == [2, 1]


@pytest.mark.parametrize(
    ("loop", "told"),
    [
        (lambda *_, **__: None, "train returned None, expected a dict whose 'loss' has 2 numbers"),
        (lambda *_, **__: {"loss": [1.0]}, "train returned .*, expected a dict whose 'loss' has 2 numbers"),
        (lambda _, batches, *__, **___: list(batches), "train took 4 batches for 2 steps: take no more"),
        (lambda *_, **__: {"loss": [1.0, 1.0]}, "called the optimizer 0 times in 2 steps, expected once a step"),
    ],
)
def test_a_loop_that_takes_no_steps_is_told(plan: CapstoneManifest, script: Any, loop: Any, told: str) -> None:
    prepared = script.prepare(*plan.parts, plan.settings)
    script.advance.__globals__["train"] = loop
    settings = {**plan.settings, "own_loop": True}
    with pytest.raises(ValueError, match=told):
        script.advance(script.begin(prepared, settings, 1), prepared, settings, 1, 0, 2, 6)


def test_a_loop_that_loses_a_step_is_told(plan: CapstoneManifest, script: Any) -> None:
    prepared = script.prepare(*plan.parts, plan.settings)
    names = script.advance.__globals__
    loop = names["train"]

    def forgetful(model: Any, *arguments: Any, **more: Any) -> Any:
        kept = model.params
        history = loop(model, *arguments, **more)
        model.params = kept
        return history

    names["train"] = forgetful
    settings = {**plan.settings, "own_loop": True}
    with pytest.raises(ValueError, match="other parameters in the model than those that the optimizer returned last"):
        script.advance(script.begin(prepared, settings, 1), prepared, settings, 1, 0, 2, 6)


def test_what_is_written_past_the_window_is_what_the_whole_text_gives() -> None:
    with scripted(read_plan(COURSE)) as script:
        _write_past_the_window(script)


def _write_past_the_window(script: Any) -> None:
    model = script.ModernGPT(264, 2, 8, 2, 1, 10, np.random.default_rng(3), window=5)
    held: list[int] = []
    forward = model.forward_with_cache

    def watched(ids: Any, cache: Any = None) -> Any:
        logits, cache = forward(ids, cache)
        held.append(cache[0].keys.shape[2])
        return logits, cache

    model.forward_with_cache = watched
    written = script._rolling(model, np.array([[1, 2, 3]]), 12, lambda logits: logits.argmax(axis=-1))
    assert written.shape == (1, 15) and max(held) == 5 and len(held) == 13
    scores = model.forward(written[:, :-1])[0, 2:]
    assert scores.argmax(axis=-1).tolist() == written[0, 3:].tolist()
