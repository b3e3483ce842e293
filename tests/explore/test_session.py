"""Explorations of attention: the five steps of the lesson, its heads, and sentences of one's own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from grader.explore.example import LESSON, example
from grader.explore.model import Example, Exploration
from tests.explore.exploring import explored, parts, reference, softmax, stubbed

FUNCTIONS = (
    "compute_attention_scores", "attention_weights", "scaled_dot_product_attention", "apply_attention_mask",
    "split_heads", "create_causal_mask",
)  # fmt: skip


PROJECTED = ["head-0-projected", "head-1-projected"]


def statuses(found: Exploration) -> dict[str, str]:
    return {step.id: step.status for step in found.steps}


def without(*functions: str) -> str:
    """The reference, with functions that are not written yet."""
    stubs = [f"def {name}(*args, **kwargs):\n    raise NotImplementedError('{name}')\n" for name in functions]
    return "\n".join([reference("s15"), *stubs])


# The lesson's own sentence.


def test_the_reference_shows_the_five_steps_of_the_lesson_and_its_heads(tmp_path: Path) -> None:
    found = explored(tmp_path, "s15")
    assert found.fine
    assert (found.next_function, found.look_at, found.problem) == (None, None, None)
    shown = {name: [fact.text for fact in part.facts] for name, part in parts(found).items()}
    assert shown["raw"] == ["range [0.500, 2.500]"]
    assert shown["scaled"] == ["range [0.204, 1.021]"]
    assert shown["mask"] == ["10 of 16 pairs allowed"]
    assert shown["masked"] == ["allowed [0.204, 1.021]", "6 masked at -1e9"]
    assert shown["weights"] == shown["causal-weights"] == ["rows' sums 1.000 1.000 1.000 1.000"]
    assert parts(found)["output"].shape == (4, 6)
    assert parts(found)["split"].shape == (1, 2, 4, 3)
    assert all(step.notice for step in found.steps)


def test_the_maps_are_plain_causal_and_one_a_head(tmp_path: Path) -> None:
    E = np.array(list(LESSON.values()))
    scores = E @ E.T / np.sqrt(6)
    later = np.triu(np.ones((4, 4), dtype=bool), 1)
    heads = [softmax(E[:, part] @ E[:, part].T / np.sqrt(3)) for part in (slice(0, 3), slice(3, 6))]
    found = {each.id: each for each in explored(tmp_path, "s15").maps}
    assert list(found) == ["plain", "causal", "head-0", "head-1", *PROJECTED]
    expected = [softmax(scores), softmax(np.where(later, -np.inf, scores)), *heads]
    for each, weights in zip(found.values(), expected, strict=False):
        np.testing.assert_allclose(each.weights, weights, atol=1e-12)
    assert [each.head for each in found.values()] == [None, None, 0, 1, 0, 1]
    assert [each.causal for each in found.values()] == [False, True, *[False] * 4]


def test_a_sentence_of_ones_own_has_notices_of_its_own(tmp_path: Path) -> None:
    found = explored(tmp_path, "s15", sentence=example("a dog sat", None, 3))
    assert found.fine
    notices = {step.id: step.notice or "" for step in found.steps}
    assert "more than any other two words" in notices["raw-scores"]
    assert "3 of 9 scores go." in notices["masked-scores"]
    assert "features 3 to 5" not in notices["raw-scores"]
    heads = [f"head-{head}" for head in (0, 1, 2)]
    assert [each.id for each in found.maps] == ["plain", "causal", *heads, *(f"{head}-projected" for head in heads)]


def test_one_word_can_be_explored(tmp_path: Path) -> None:
    assert explored(tmp_path, "s15", sentence=example("alone", None, None)).maps[1].weights == ((1.0,),)


def test_queries_keys_and_values_may_differ(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    Q, K, V = rng.normal(size=(3, 4)), rng.normal(size=(3, 4)), rng.normal(size=(3, 6))
    found = explored(tmp_path, "s15", sentence=Example(("a", "b", "c"), Q, K, V, 2, False, "arrays"))
    assert found.fine
    assert parts(found)["output"].shape == (3, 6)
    assert parts(found)["projections"].facts[0].text == "left out: a layer takes 4 features of V too, not 6"
    np.testing.assert_allclose(found.maps[0].weights, softmax(Q @ K.T / 2), atol=1e-12)


# Half-finished modules.


def test_an_untouched_stub_begins_with_the_first_row_of_the_checklist(tmp_path: Path) -> None:
    found = stubbed(tmp_path, "s15")
    assert (found.fine, found.next_function, found.maps) == (False, "compute_attention_scores", ())
    assert set(statuses(found).values()) == {"not_started", "blocked"}


@pytest.mark.parametrize("missing", FUNCTIONS)
def test_a_function_that_is_missing_comes_next_and_what_needs_it_waits(tmp_path: Path, missing: str) -> None:
    found = explored(tmp_path, "s15", without(missing))
    assert (found.fine, found.next_function, found.look_at) == (False, missing, None)
    for part in parts(found).values():
        assert part.status in ("passed", "not_started", "blocked")
        assert part.waits_for == (None if part.status == "passed" else missing)


@pytest.mark.parametrize(
    ("missing", "maps"),
    [
        ("create_causal_mask", ["plain", "head-0", "head-1", *PROJECTED]),
        ("apply_attention_mask", ["plain", "head-0", "head-1", *PROJECTED]),
        ("split_heads", ["plain", "causal"]),
        ("scaled_dot_product_attention", ["plain", "causal"]),
        ("attention_weights", []),
    ],
)
def test_what_works_is_drawn(tmp_path: Path, missing: str, maps: list[str]) -> None:
    assert [each.id for each in explored(tmp_path, "s15", without(missing)).maps] == maps


def test_attention_that_needs_no_other_function_is_drawn_without_them(tmp_path: Path) -> None:
    alone = """
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    e = np.exp(scores)
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ V, weights
"""
    found = explored(tmp_path, "s15", without("compute_attention_scores", "attention_weights") + alone)
    assert statuses(found)["output"] == "passed"
    assert [each.id for each in found.maps] == ["plain", "causal", "head-0", "head-1", *PROJECTED]
    assert found.next_function == "compute_attention_scores"


# Modules that answer wrongly, or not at all.


SWAPPED = """
def split_heads(x, num_heads):
    batch, seq, d_model = x.shape
    return x.reshape(batch, num_heads, seq, d_model // num_heads)
"""


def test_pictures_of_a_wrong_step_are_marked_and_those_of_one_that_waits_left_out(tmp_path: Path) -> None:
    right = explored(tmp_path, "s15")
    steps = {each.picture: each.step for each in right.origins}
    assert not any(each.wrong for each in right.origins)
    assert (steps["plain"], steps["head-0"], steps["mask"]) == ("weights", "heads", "masked-scores")
    assert steps["scores"] == "scaled-scores"  # which shows the raw ones, too
    found = explored(tmp_path, "s15", reference("s15") + SWAPPED)
    marked = {each.id for each in (*found.maps, *found.drawings) if found.is_wrong(each)}
    assert marked == {"head-0", "head-1", *PROJECTED}  # the projections are split, too
    waiting = explored(tmp_path, "s15", without("merge_heads") + SWAPPED)
    assert [each.id for each in waiting.maps] == ["plain", "causal", "head-0", "head-1"]
    whole = explored(tmp_path, "s15", without("merge_heads"))
    assert [each.id for each in whole.maps] == [each.id for each in right.maps]
    alone = found.of_step(found.steps[5])
    assert [each.id for each in alone.maps] == ["head-0", "head-1"] and not alone.fine
