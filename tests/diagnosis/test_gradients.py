"""The gradients of a failing backward pass: which there are, what they belong to, and when nothing is told."""

from __future__ import annotations

import types
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.course.stage import Criterion, Stage
from grader.diagnosis import gradients as report
from grader.diagnosis.gradients import MOST, gradients, is_about_gradients
from grader.outcome import Gradient
from grader.sandbox.record import Name, Record

HINTS = ("a", "b", "c")
ROW = Criterion("dense", "Dense", ("dense_backward", "Layer.backward"), (), HINTS)
AXES = {"dense_backward": {"grad_output": ("batch", "outputs")}}
STAGE = Stage(
    "s90", Path("s90"), "Small", "small.py", (), (ROW, replace(ROW, id="other", functions=("dense",))), axes=AXES
)

SOLUTION = '''
def dense_backward(grad_output, x, W):
    """Return (grad_x, grad_W, grad_b)."""
    return grad_output @ W.T, x.T @ grad_output, grad_output.sum(axis=0)


def dense_forward(x, W):
    return x @ W


class Layer:
    def forward(self, x):
        self.x = x
        return x * 3.0

    def backward(self, grad_output):
        self.grads = {"scale": (self.x * grad_output).sum(axis=0), "deep": {"w": self.x.T @ grad_output}}
        return grad_output * 3.0


layer = Layer()
forward, backward = layer.forward, layer.backward
'''
REFERENCE: Any = types.ModuleType("reference")
exec(SOLUTION, REFERENCE.__dict__)
NUMBERS = {"dense_backward": 1, "layer": 2, "dense_forward": 3, "forward": 4, "backward": 5}
NAMES = {name: Name("function", number) for name, number in NUMBERS.items()}
RNG = np.random.default_rng(3)
G, X, W = RNG.normal(size=(5, 3)), RNG.normal(size=(5, 4)), RNG.normal(size=(4, 3))


def call(label: str, target: int, args: tuple[Any, ...], result: Any, name: str = "", kind: str = "call") -> Record:
    return Record(kind, target, name, label, args, {}, given=args, result=result, returned=result)


def told(*records: Record, criterion: str = "dense") -> tuple[Gradient, ...]:
    return gradients(STAGE, REFERENCE, list(records), NAMES, criterion)


def dense(*result: Any) -> Record:
    return call("dense_backward", 1, (G, X, W), result)


RIGHT = REFERENCE.dense_backward(G, X, W)


def test_each_gradient_of_a_tuple_has_its_name_its_error_and_what_is_wrong_with_it() -> None:
    x, weights, bias = told(dense(RIGHT[0], RIGHT[1] / 5, G))
    assert (x.name, x.of, x.shape, x.finding) == ("grad_x", "x", (5, 4), "")
    assert (weights.name, weights.of, weights.finding) == ("grad_W", "W", "factor")
    assert weights.text == "got = 0.2 × expected; 0.2 is 1/batch"
    assert weights.relative == pytest.approx(0.8)
    index = np.unravel_index(np.abs(RIGHT[1]).argmax(), RIGHT[1].shape)
    assert weights.index == tuple(map(int, index))
    assert (weights.expected, weights.got) == (f"{RIGHT[1][index]:.6g}", f"{RIGHT[1][index] / 5:.6g}")
    assert (bias.shape, bias.expected_shape, bias.relative, bias.index) == ((5, 3), (3,), None, None)
    assert bias.text == "a sum over axis 0 (batch) is missing"


def test_gradients_that_an_object_keeps_belong_to_the_call_before() -> None:
    x = RNG.normal(size=(5, 3))
    wrong = {"scale": -(x * G).sum(axis=0), "deep": {"w": x.T @ G}}
    found = told(
        call("Layer.forward", 4, (x,), x * 3.0),
        call("Layer.backward", 5, (G,), G * 3.0),
        call("Layer.grads", 2, (), wrong, "grads", "getattr"),
        call("Layer.grads", 2, (), wrong, "grads", "getattr"),
    )
    assert [(each.name, each.of, each.finding) for each in found] == [
        ("grad_x", "x", ""), ("grads['scale']", "scale", "factor"), ("grads['deep']['w']", "w", ""),
    ]  # fmt: skip


def test_the_first_backward_pass_that_is_wrong_is_told() -> None:
    found = told(dense(*RIGHT), dense(RIGHT[0] * 2, *RIGHT[1:]), dense(RIGHT[0], RIGHT[1] * 0, RIGHT[2]))
    assert [each.finding for each in found] == ["factor", "", ""]


@pytest.mark.parametrize(
    "records",
    [
        [dense(*RIGHT)],
        [call("dense_forward", 3, (X, W), X @ W * 2)],
        [dense(*RIGHT[:2])],
        [],
    ],
)
def test_nothing_is_told_where_no_gradient_is_wrong(records: list[Record]) -> None:
    assert told(*records) == ()


def test_a_criterion_that_is_not_about_gradients_has_none() -> None:
    assert told(dense(RIGHT[0] * 2, *RIGHT[1:]), criterion="other") == ()
    assert is_about_gradients(("Block.grads",)) and is_about_gradients(("mse_gradient",))
    assert not is_about_gradients(("backward_substitution", "clip_gradients", "gradient_check"))


def test_what_is_no_array_is_told_as_such() -> None:
    first, *_ = told(dense("nothing", *RIGHT[1:]))
    assert (first.finding, first.text) == ("shape", "a str came back, not an array of numbers")


def test_at_most_so_many_are_told_the_wrong_ones_first(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST == 12
    monkeypatch.setattr(report, "MOST", 1)
    assert [each.name for each in told(dense(RIGHT[0], RIGHT[1], RIGHT[2] * 2))] == ["grad_b"]
