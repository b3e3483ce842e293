"""What may be missing in a learner's line is tried, and told as what stands there now."""

from __future__ import annotations

import ast

import pytest

from grader.diagnosis.repairs.kinds.missing import QUICK
from grader.diagnosis.repairs.repair import likelihood
from grader.diagnosis.repairs.words.told import told
from grader.diagnosis.slips.schema import Change
from grader.tests.diagnosis.repairs.made import repairs, written

TWO = "np.ones((2, 3)), np.ones(3)"
CASES = {
    "a bias": ("def f(x, b):\n    return x", TWO, "return x + b", "b were not added to x"),
    "a factor": (
        "def f(x, rate):\n    return x",
        "np.ones(2), 0.1",
        "return x * rate",
        "x were not multiplied by rate",
    ),
    "a root of a size": (
        "def f(x, size):\n    return x",
        "np.ones(2), 4",
        "return x / size ** 0.5",
        "x were not divided by the square root of size",
    ),
    "an axis": (
        "def f(x):\n    return x - x.max()",
        "np.ones((2, 3))",
        "return x - x.max(keepdims=True, axis=-1)",
        "the maximum were taken over the whole array at once instead of along the last axis",
    ),
    "a sum over the batch": (
        "def f(x):\n    return x",
        "np.ones((2, 3))",
        "return x.sum(axis=0)",
        "the sum of x along the first axis were not taken",
    ),
    "a weight inside of a sum": (
        "def f(x, w):\n    return x.sum(axis=-1)",
        "np.ones((2, 3)), np.ones((2, 3))",
        "return (x * w).sum(axis=-1)",
        "x were not multiplied by w",
    ),
    "an argument that is not passed on": (
        "def g(x, mask=None):\n    return x\n\ndef f(x, mask):\n    return g(x)",
        "np.ones(2), np.ones(2) > 0",
        "return g(x, mask=mask)",
        "mask did not reach g",
    ),
    "the axis that was asked for": (
        "def f(x, axis=-1):\n    return x.sum(axis=-1)",
        "np.ones((2, 3)), 0",
        "return x.sum(axis=axis)",
        "axis were ignored, and -1 always taken",
    ),
    "a sign inside of a call": (
        "def f(x):\n    return 1 / (1 + np.exp(x))",
        "np.ones(2)",
        "return 1 / (1 + np.exp(-x))",
        "the sign of x were the other way round",
    ),
    "a copy": (
        "def f(x):\n    y = x\n    return y",
        "np.ones(2)",
        "y = x.copy()\nreturn y",
        "x were not copied",
    ),
    "minus infinity": (
        "def f(x):\n    return np.where(x > 0, x, -1000.0)",
        "np.ones(2)",
        "return np.where(x > 0, x, -np.inf)",
        "-1000.0 stood where minus infinity belongs",
    ),
    "a result that is thrown away": (
        "def g(x):\n    return 2 * x\n\ndef f(x):\n    g(x)\n    return x",
        "np.ones(2)",
        "x = g(x)\nreturn x",
        "the result of g were not used",
    ),
    "all axes reversed": (
        "def f(x):\n    return x.T",
        "np.ones((2, 3, 4))",
        "return np.swapaxes(x, -1, -2)",
        "`.T` reversed all axes of x instead of swapping its last two",
    ),
    "an addition instead of an assignment": (
        "def f(x):\n    y = 0 * x\n    y += x\n    return y",
        "np.ones(2)",
        "y = 0 * x\ny = x\nreturn y",
        "y were added to instead of replaced",
    ),
}


@pytest.mark.parametrize(("text", "arguments", "body", "said"), CASES.values(), ids=CASES)
def test_it_is_tried_and_told(text: str, arguments: str, body: str, said: str) -> None:
    found = repairs(text, f"f({arguments})")
    assert body in found, sorted(found)
    assert said in found[body]


def test_a_sum_whose_axis_goes_is_not_told_to_keep_it() -> None:
    old, new = (ast.parse(each, mode="eval").body for each in ("g.sum()", "g.sum(axis=0)"))
    statement = ast.Return(old)
    say = written("def f(g):\n    return g.sum()", "f(np.ones(2))").vocabulary("f")
    clause = told(Change(1, "f", old, new, statement, statement), say)
    assert clause is not None and "at once instead of along the first axis" in clause.said
    assert "keepdims" not in clause.fix


def test_numbers_of_the_right_module_are_tried() -> None:
    found = repairs("def f(x):\n    return x + 1e-06", "f(np.ones(2))", 1e-5)
    assert "1e-06 stood where the formula has 1e-05" in found["return x + 1e-05"]


def test_what_never_ran_is_left_alone() -> None:
    found = repairs("def f(x):\n    if x.size > 9:\n        x = x - 1\n    return x", "f(np.ones(2))")
    assert not any("x - 2" in body for body in found)


def test_a_term_of_another_shape_is_not_tried() -> None:
    assert "return x + b" not in repairs("def f(x, b):\n    return x", "f(np.ones((2, 3)), np.ones(7))")


def test_a_name_is_not_used_before_it_has_a_value() -> None:
    found = repairs("def f(x):\n    y = 2 * x\n    z = y * 3\n    return z", "f(np.ones(2))")
    assert not any("y = 2 * x + z" in body for body in found)


def test_a_step_too_many_is_told_as_one() -> None:
    found = repairs("def f(x):\n    return np.maximum(x * 2, 0)", "f(np.ones(2))")
    assert any("were cut off below 0" in said for said in found["return x * 2"])
    assert "return np.maximum(x, 0)" in found


def test_a_declaration_stays_before_what_it_declares() -> None:
    text = """
def f(x):
    total = 0

    def add(by):
        nonlocal total
        total = total + by
        total = 2 * total

    add(x)
    return total
"""
    assert written(text, "f(3)").schema("f", 0, 1, frozenset())[1]
    source = written(text, "f(3)")
    source.code_of("f", source.schema("f", 0, 1, frozenset())[0])


def test_a_forgotten_bias_is_among_the_first_changes() -> None:
    text = 'def f(x, p):\n    h = x @ p["W"]\n    return np.tanh(h) @ p["V"]'
    given = "np.ones((2, 3)), {'W': np.ones((3, 4)), 'V': np.ones((4, 3)), 'b1': np.ones(4), 'other': np.ones(4)}"
    source = written(text, f"f({given})")
    changes = source.schema("f", QUICK, 1, frozenset())[1]
    added = {ast.unparse(each.new): likelihood(each) for each in changes if isinstance(each.new, ast.BinOp)}
    assert added["x @ p['W'] + p['b1']"] == 0
    assert not {"x @ p['W'] + p['other']", "np.tanh(h) @ p['V'] + p['b1']"} & set(added)
