"""What is set and never used is known, and is tried where it may belong: a mask as well as a number."""

from __future__ import annotations

import ast

from grader.diagnosis.repairs.kinds.unused import unused_names
from grader.tests.diagnosis.repairs.made import repairs


def test_names_that_are_never_read_are_known() -> None:
    text = (
        "def f(self, x, rate, *, eps=1):\n    left, right = x\n    for _ in range(3):\n        x = left\n    return x"
    )
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.FunctionDef)
    assert unused_names(node) == ["rate", "eps", "right"]


def test_a_mask_that_is_never_used_is_tried_as_one_and_in_the_place_of_another() -> None:
    found = repairs(
        "def f(x, keep):\n    other = x > 0\n    return np.where(other, x * 2, x)", "f(np.ones(2), np.ones(2) > 0)"
    )
    first = "other = x > 0\nreturn "
    assert f"{first}np.where(keep, x * 2, x)" in found
    assert "keep were never used" in found[f"{first}np.where(keep, 0.0, np.where(other, x * 2, x))"]
