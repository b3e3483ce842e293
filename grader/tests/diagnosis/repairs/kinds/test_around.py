"""What is missing beside an expression, where names or the other branch tell what that is."""

from __future__ import annotations

import ast

import pytest

from grader.diagnosis.repairs.kinds import around
from grader.tests.diagnosis.repairs.made import repairs

CASES = {
    "the other branch as a factor": (
        "def f(z, alpha):\n    return np.where(z > 0, z, alpha)",
        "f(np.array([1.0, -2.0]), 0.5)",
        "return np.where(z > 0, z, alpha * z)",
        "alpha were not multiplied by z",
    ),
    "a gate's slope": (
        "def f(dc, g, i):\n    di = dc * g\n    return di + 1.0",
        "f(np.array([1.0, 2.0]), np.array([0.5, 0.25]), np.array([0.5, 0.75]))",
        "di = dc * g * (i * (1 - i))\nreturn di + 1.0",
        "the factor i * (1 - i) were left out of (dc * g)",
    ),
    "a line of two that put gradients into one table": (
        "def f(table, a, b, grad_pos, grad_neg):\n    found = np.zeros_like(table)\n    other = grad_neg * 2.0\n"
        "    np.add.at(found, a, grad_pos)\n    return found",
        "f(np.ones((4, 2)), np.array([0, 1]), np.array([[2], [3]]), np.ones((2, 2)), np.ones((2, 1, 2)))",
        "found = np.zeros_like(table)\nother = grad_neg * 2.0\nnp.add.at(found, a, grad_pos)\n"
        "np.add.at(found, b, grad_neg)\nreturn found",
        "the line for grad_neg beside that for grad_pos were left out",
    ),
}


@pytest.mark.parametrize(("source", "call", "right", "says"), CASES.values(), ids=CASES)
def test_what_is_missing_is_put_in(source: str, call: str, right: str, says: str) -> None:
    found = repairs(source, call)
    assert right in found, "\n\n".join(found)
    assert says in found[right]


@pytest.mark.parametrize(
    ("source", "call", "wrong"),
    [
        ("def f(z):\n    return np.where(z > 0, z, 0.5)", "f(np.ones(2))", "return np.where(z > 0, z, 0.5 * z)"),
        ("def f(z, y):\n    return np.where(z > 0, z, y)", "f(np.ones(2), True)", "return np.where(z > 0, z, y * z)"),
    ],
)
def test_a_constant_or_a_condition_is_no_slope(source: str, call: str, wrong: str) -> None:
    assert wrong not in repairs(source, call)


ARRAYS = "np.array([0.5, -0.25]), np.array([2.0, 3.0])"
SLOPES = {
    "tanh's for a sigmoid's": (
        "def f(g, d):\n    return d * g * (1 - g)",
        f"f({ARRAYS})",
        "return d * (1 - g ** 2)",
        "`d * g * (1 - g)` stood where `d * (1 - g ** 2)` belongs",
    ),
    "alone": ("def f(g, d):\n    slope = g * (1 - g)\n    return d * slope", f"f({ARRAYS})", "slope = 1 - g ** 2", ""),
    "a sigmoid's for tanh's": (
        "def f(g, d):\n    return d * (1 - g * g)",
        f"f({ARRAYS})",
        "return d * (g * (1 - g))",
        "`1 - g * g` stood where `g * (1 - g)` belongs",
    ),
    "the sum of a softmax": (
        "def f(dA, A):\n    total = np.sum(dA, axis=-1, keepdims=True)\n    return A * (dA - total)",
        f"f({ARRAYS})",
        "total = np.sum(dA * A, axis=-1, keepdims=True)",
        "dA were not multiplied by A",
    ),
    "as a method": (
        "def f(dA, A):\n    return (dA - dA.sum(axis=-1, keepdims=True)) * A",
        f"f({ARRAYS})",
        "(dA - (dA * A).sum(axis=-1, keepdims=True)) * A",
        "",
    ),
    "a mean for a sum with weights": (
        "def f(dA, A):\n    return (dA - dA.mean(axis=-1, keepdims=True)) * A",
        "f(np.ones((2, 3)), np.ones((2, 3)))",
        "(dA - (dA * A).sum(axis=-1, keepdims=True)) * A",
        "`dA.mean(axis=-1, keepdims=True)` stood where `(dA * A).sum(axis=-1, keepdims=True)` belongs",
    ),
}


@pytest.mark.parametrize(("source", "call", "right", "says"), SLOPES.values(), ids=SLOPES)
def test_slopes_that_are_wrong_are_put_right(source: str, call: str, right: str, says: str) -> None:
    found = repairs(source, call)
    made = next((body for body in found if right in body), None)
    assert made is not None, "\n\n".join(found)
    assert not says or says in found[made]


def test_a_sum_of_something_else_has_no_weights() -> None:
    definition = ast.parse("def f(dA, A):\n    return A * (A - np.sum(dA, axis=-1, keepdims=True))").body[0]
    assert isinstance(definition, ast.FunctionDef)
    calls = [each for each in ast.walk(definition) if isinstance(each, ast.Call)]
    assert [list(around.weighted(each.args[0], each, definition)) for each in calls] == [[]]
