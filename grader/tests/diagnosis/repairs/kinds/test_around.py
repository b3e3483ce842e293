"""What is missing beside an expression, where names or the other branch tell what that is."""

from __future__ import annotations

import pytest

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
