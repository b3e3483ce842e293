"""Stage 16 explored: nine steps forward, ten backward beside central differences, whatever a layer leaves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from drawings.s16.backward import CHAIN
from drawings.s16.forward import start
from grader.errors import UsageError
from grader.explore.example import example
from grader.explore.model import Array, Example, Exploration
from tests.explore.exploring import COURSE, charts, explored, images, parts, reference

FORWARD = ["project", "split", "scores", "scale", "mask", "softmax", "average", "join", "mix"]


def changed(old: str, new: str) -> str:
    """Return the reference with one piece of text replaced."""
    text = reference("s16")
    assert old in text
    return text.replace(old, new)


def errors(found: Exploration) -> dict[str, float]:
    """Return the relative error of each gradient that was measured."""
    measured = {name: part for name, part in parts(found).items() if name.endswith("-measured")}
    return {name: part.facts[-1].values[0] for name, part in measured.items() if part.facts}


def test_the_reference_shows_the_nine_and_the_ten_steps(tmp_path: Path) -> None:
    found = explored(tmp_path, "s16")
    assert found.fine, parts(found)
    names = [step.id for step in found.steps]
    assert names == [*FORWARD, *(name.replace("_", "-") for name, *_ in CHAIN), "input-gradients"]
    assert [step.title for step in found.steps][9:11] == [
        "Backward 1 · Output weights",
        "Backward 2 · Attention output",
    ]
    assert parts(found)["attention_weights"].shape == (1, 2, 4, 4)
    assert parts(found)["gradient_query_weights"].code == "gradient_query_weights = X_Qᵀ · dQ"
    assert parts(found)["gradient_key"].facts[0].name == "norm"
    assert len(errors(found)) == 13
    assert max(errors(found).values()) < 1e-7
    assert [each.id for each in found.maps] == ["head-0-plain", "head-0-causal", "head-1-plain", "head-1-causal"]


def test_what_is_drawn_is_what_the_steps_found(tmp_path: Path) -> None:
    found = explored(tmp_path, "s16")
    raw, scaled = (np.array(images(found, "scores")[f"{name}, head 0"].values) for name in ("scores", "scaled"))
    np.testing.assert_allclose(scaled, raw / np.sqrt(3))
    assert images(found, "scores")["scaled, head 1"].row_names == ("The", "cat", "sat", "down")
    np.testing.assert_allclose(np.sum(images(found, "gradients-of-scores")["dS, head 1"].values, axis=1), 0, atol=1e-12)
    assert list(images(found, "gradients-of-weights")) == ["dW_Q", "dW_K", "dW_V", "dW_O"]
    (chart,) = charts(found, "differences").values()
    assert chart.series[0].x == tuple(range(1, 11))
    assert max(chart.series[0].y) < chart.series[1].y[0] == 1e-4


def test_queries_may_meet_keys_of_other_words(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    Q, K, V = (rng.normal(size=(length, 4)) for length in (3, 5, 5))
    sentence = Example(("a", "b", "c"), Q, K, V, 2, False, "arrays", ("v", "w", "x", "y", "z"))
    found = explored(tmp_path, "s16", sentence=sentence, seed=1)
    assert found.fine, parts(found)
    assert [each.id for each in found.maps] == ["head-0-plain", "head-1-plain"]
    assert parts(found)["gradient_key"].shape == (1, 2, 5, 2)
    assert parts(found)["forward"].code == "layer.forward(query_input, key_input, value_input)"
    assert parts(found)["masked_scores"].code == "masked_scores = scaled_scores"
    assert images(found, "scores")["scores, head 0"].column_names == ("v", "w", "x", "y", "z")


def test_a_single_word_and_many_of_them_can_be_explored(tmp_path: Path) -> None:
    for words, heads in (("alone", 1), ("a b " * 16, 3)):
        found = explored(tmp_path, "s16", sentence=example(words, None, heads))
        assert found.fine, parts(found)


def test_the_scale_may_be_in_the_queries_and_the_gradient_before_the_scale(tmp_path: Path) -> None:
    text = changed("self.split_heads(query_input @ self.query_weights)",
                   "self.split_heads(query_input @ self.query_weights) * self.scale_factor")  # fmt: skip
    text = text.replace("self.attention_scores * self.scale_factor", "self.attention_scores * 1.0")
    text = text.replace("gradient_products = self.gradient_attention_scores * self.scale_factor",
                        "gradient_products = self.gradient_attention_scores")  # fmt: skip
    text = text.replace("self.concatenate_heads(self.gradient_query)",
                        "self.concatenate_heads(self.gradient_query * self.scale_factor)")  # fmt: skip
    assert max(errors(explored(tmp_path, "s16", text)).values()) < 1e-7
    before = changed("gradient_products = self.gradient_attention_scores * self.scale_factor",
                     "gradient_products = self.gradient_attention_scores = "
                     "self.gradient_attention_scores * self.scale_factor")  # fmt: skip
    assert explored(tmp_path, "s16", before).fine


@pytest.mark.some_of(4)
@pytest.mark.parametrize(
    ("old", "new", "part", "row", "message"),
    [
        ("return x.reshape(*x.shape[:2], self.number_of_heads, self.head_dimension).transpose(0, 2, 1, 3)",
         "return x.reshape(x.shape[0], self.number_of_heads, -1, self.head_dimension)",
         "queries_multihead", "queries-multihead", "its own features of every row of Q"),
        ("self.attention_scores * self.scale_factor", "self.attention_scores / self.head_dimension",
         "scaled_scores", "scaled-scores", "divided by √head_dimension, once"),
        ("allowed, self.scaled_scores, -np.inf)", "allowed, self.scaled_scores, 0.0)",
         "masked_scores", "masked-scores", "forbidden ones be -inf"),
        ("= _softmax_backward(self", "= (lambda a, g: a * (1 - a) * g)(self",
         "gradient_attention_scores-measured", "gradient-attention-scores", "not what central differences give"),
        ("self.gradient_query = gradient_products @", "self.gradient_query = _transposed(gradient_products) @",
         "gradient_query-measured", "gradient-query", "not what central differences give"),
    ],
)  # fmt: skip
def test_a_step_that_is_wrong_is_told_with_its_row(
    tmp_path: Path, old: str, new: str, part: str, row: str, message: str
) -> None:
    found = explored(tmp_path, "s16", changed(old, new))
    assert (parts(found)[part].status, found.look_criterion) == ("warning", row)
    assert message in parts(found)[part].message
    assert row in [each.id for each in COURSE.find("s16").criteria]


@pytest.mark.parametrize(
    ("old", "new", "last", "missing"),
    [
        ("        self._attend()\n", '        raise NotImplementedError("Attention.forward")\n',
         "masked_scores", "attention_weights"),
        ("        self._backward_scores()\n", '        raise NotImplementedError("Attention.backward")\n',
         "gradient_attention_scores-measured", "gradient_key"),
    ],
)  # fmt: skip
def test_what_is_written_is_shown_and_the_rest_comes_next(
    tmp_path: Path, old: str, new: str, last: str, missing: str
) -> None:
    found = explored(tmp_path, "s16", changed(old, new))
    assert (parts(found)[last].status, parts(found)[missing].status) == ("passed", "not_started")
    assert found.next_function in ("Attention.forward", "Attention.backward")
    assert found.look_at is None


@pytest.mark.parametrize(
    ("old", "new", "part", "message"),
    [
        ("return self.gradient_query_input", "del self.gradient_value; return self.gradient_query_input",
         "gradient_value", "backward leaves no attribute gradient_value"),
        ("return self.concatenated_heads @ self", "del self.masked_scores; return self.concatenated_heads @ self",
         "masked_scores", "forward leaves no attribute masked_scores"),
        ("self.scaled_scores = self.attention_scores *", "self.scaled_scores = self.attention_scores[0] *",
         "scaled_scores", "scaled_scores: shape (2, 4, 4) should be"),
        ("        self._attend()\n", "        1 / 0\n", "forward", "forward did not end: ZeroDivisionError"),
        ("        self._backward_scores()\n", "        1 / 0\n", "left", "backward did not end: ZeroDivisionError"),
    ],
)  # fmt: skip
def test_what_is_not_left_is_told(tmp_path: Path, old: str, new: str, part: str, message: str) -> None:
    found = explored(tmp_path, "s16", changed(old, new))
    assert parts(found)[part].status in ("failed", "warning")
    assert message in parts(found)[part].message


def test_inputs_of_two_widths_are_refused() -> None:
    x: Array = np.ones((2, 4))
    with pytest.raises(UsageError, match="Q and K have 4 features and V has 2"):
        start(Example(("a", "b"), x, x, x[:, :2], 1, False, "arrays"), 0)
