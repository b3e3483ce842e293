"""Stage 15 explored beyond its sentence: keys of other words, the learner's own projections, and what is drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from drawings.s15.own_notices import OWN
from grader.explore.model import Example, Images
from tests.explore.exploring import broken, explored, parts, reference, softmax

PROJECTED = ["head-0-projected", "head-1-projected"]


def cross(rows: int = 3, keys: int = 5) -> Example:
    """Queries that meet keys of other words."""
    rng = np.random.default_rng(7)
    Q, K, V = (rng.normal(size=(length, 4)) for length in (rows, keys, keys))
    return Example(tuple("abcde"[:rows]), Q, K, V, 2, False, "arrays", tuple("vwxyz"[:keys]))


def test_queries_may_meet_keys_of_other_words(tmp_path: Path) -> None:
    given = cross()
    found = explored(tmp_path, "s15", sentence=given)
    assert found.fine, parts(found)
    plain, masked, *heads = found.maps
    np.testing.assert_allclose(plain.weights, softmax(given.Q @ given.K.T / 2), atol=1e-12)
    assert (masked.title, np.shape(masked.weights), [row[-1] for row in masked.weights]) == (
        "Last key masked", (3, 5), [0, 0, 0],
    )  # fmt: skip
    assert [each.id for each in heads] == ["head-0", "head-1", *PROJECTED]
    assert parts(found)["mask"].code == "mask = create_padding_mask([4], 5), a row for each query"
    notices = [step.notice or "" for step in found.steps]
    assert "no query may see z" in notices[2]
    assert "the column of z is all zeros" in notices[3]
    assert {step.id: step.status for step in explored(tmp_path, "s15", None, sentence=cross(2, 1)).steps}[
        "weights"
    ] == "passed"


def test_a_padding_mask_that_is_wrong_or_missing_is_told(tmp_path: Path) -> None:
    missing = broken("s15", "create_padding_mask", "raise NotImplementedError('create_padding_mask')")
    found = explored(tmp_path, "s15", missing, sentence=cross())
    assert (found.next_function, parts(found)["mask"].waits_for) == ("create_padding_mask", "create_padding_mask")
    found = explored(tmp_path, "s15", broken("s15", "create_padding_mask", "return ~_right(*args)"), sentence=cross())
    assert "the mask should be True at real keys" in parts(found)["mask"].message
    found = explored(tmp_path, "s15", broken("s15", "apply_attention_mask", "return args[0]"), sentence=cross())
    assert "the weights of the masked key should be 0" in parts(found)["causal-weights"].message


def test_the_learners_own_layer_projects_for_its_heads(tmp_path: Path) -> None:
    first, again, other = (explored(tmp_path, "s15", seed=seed) for seed in (3, 3, 4))
    assert first.maps[:4] == again.maps[:4] == other.maps[:4]
    assert first.maps[4:] == again.maps[4:] != other.maps[4:]
    assert parts(first)["layer-output"].shape == (1, 4, 6)


@pytest.mark.parametrize(
    ("text", "part", "status", "message"),
    [
        ("\nMultiHeadAttention.get_params = lambda self: {'W_Q': 1}\n", "projections", "failed", "a dict of W_Q, W_K"),
        ("\nMultiHeadAttention.forward = lambda self, Q, K, V: Q\n", "layer-output", "warning", "times W_O"),
        ("\ndef MultiHeadAttention(*args, **kwargs):\n    return 3\n", "projections", "failed", "is int, where"),
        ("\nclass MultiHeadAttention:\n    def __init__(self, *a, **k):\n"
         "        raise NotImplementedError('MultiHeadAttention.__init__')\n",
         "projections", "not_started", "not written"),
    ],
)  # fmt: skip
def test_a_layer_that_is_wrong_is_told(tmp_path: Path, text: str, part: str, status: str, message: str) -> None:
    found = explored(tmp_path, "s15", reference("s15") + text)
    assert (parts(found)[part].status, parts(found)["head-weights"].status) == (status, "passed")
    assert message in parts(found)[part].message


def test_scores_and_mask_are_drawn_on_one_scale(tmp_path: Path) -> None:
    scores, mask = explored(tmp_path, "s15").drawings
    assert isinstance(scores, Images) and isinstance(mask, Images)
    raw, scaled = (np.array(panel.values) for panel in scores.panels)
    np.testing.assert_allclose(scaled, raw / np.sqrt(6))
    assert (scores.low, scores.high, scores.signed) == (0.0, 2.5, False)
    assert mask.panels[0].values == tuple(tuple(float(j <= i) for j in range(4)) for i in range(4))


def noticed(name: str, weights: list[list[float]], words: str, is_self: bool = True, **others: object) -> str | None:
    """Return what is noticed of one step of an example."""
    keys = tuple(str(others.pop("keys", words)).split())
    known = {"weights": np.array(weights), "words": tuple(words.split()), "keys": keys, "is_self": is_self}
    Q = np.arange(float(len(weights)))[:, np.newaxis]
    return OWN[name]({"is_causal": True, "Q": Q, **known, **others})


EVEN = [[0.5, 0.5], [0.5, 0.5]]


def test_who_looks_at_itself_most_is_told_as_the_numbers_have_it() -> None:
    assert noticed("weights", [[0.9, 0.1], [0.4, 0.6]], "a b") == "each word attends most to itself: from 0.60 to 0.90."
    told = noticed("weights", [[0.9, 0.1], [0.7, 0.3]], "a b")
    assert told == "1 of 2 words attend most to themselves; b looks most at a (0.70), not at itself (0.30)."
    assert noticed("weights", EVEN, "a b") is None
    assert noticed("weights", [[1.0]], "a") is None
    told = noticed("weights", [[0.9, 0.1], [0.4, 0.6]], "a b", False)
    assert told == "each query matches its own key best: from 0.60 to 0.90."


def test_equal_rows_of_one_word_are_told_and_no_others() -> None:
    Q = np.array([[1.0], [1.0]])
    told = noticed("weights", EVEN, "bank Bank", Q=Q)
    assert told is not None and "cannot tell one Bank from the other" in told
    assert noticed("weights", EVEN, "bank loans", Q=Q) is None
    assert noticed("weights", [[0.5, 0.5], [0.4, 0.6]], "bank bank", Q=Q) == (
        "each word attends most to itself: from 0.50 to 0.60."
    )


def test_what_the_numbers_do_not_show_is_not_said() -> None:
    raw = np.array([[5.0, 1.0], [1.0, 5.0]])
    assert OWN["raw-scores"]({"raw": np.ones((3, 3)), "words": "abc", "keys": "abc", "is_self": True}) is None
    told = OWN["raw-scores"]({"raw": raw, "words": "ab", "keys": "ab", "is_self": True})
    assert told == "a and b score 1.000: more than any other two words."
    assert OWN["scaled-scores"]({"raw": raw, "scaled": raw, "Q": raw}) is None
    assert OWN["masked-scores"]({"mask": np.ones((2, 2)), "keys": "ab"}) is None
    heads = np.array([[[0.9, 0.1]], [[0.2, 0.8]]])
    told = OWN["heads"]({"head-weights": heads, "words": "x", "keys": "ab"})
    assert told == "x looks most at a in head 0 (0.90), at b in head 1 (0.80)."
    assert OWN["heads"]({"head-weights": heads[:1], "words": "x", "keys": "ab"}) is None
    assert OWN["projections"]({}) is None
