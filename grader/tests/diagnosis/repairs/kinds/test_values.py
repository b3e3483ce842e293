"""What leaves a value as it is is no change to try: something else is gone with it."""

from __future__ import annotations

import ast

import pytest

from grader.diagnosis.repairs.kinds.values import is_idle, tells


@pytest.mark.parametrize("text", ["1 * x", "x * 1", "x / 1", "x ** 1", "0 + x", "x + 0", "x - 0", "(1 - 0) * x"])
def test_what_changes_nothing_is_idle(text: str) -> None:
    assert is_idle(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize("text", ["2 * x", "0 * x", "0 - x", "x + 1", "1 / x", "(1 - y) * x", "x"])
def test_what_changes_a_value_is_not(text: str) -> None:
    assert not is_idle(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize(
    ("text", "is_told"),
    [("1 / x", False), ("3 * x", False), ("x * 3", False), ("x ** 2", False), ("x / 3", True), ("x - 3", True)],
)
def test_a_product_of_which_nothing_is_left_tells_nothing(text: str, is_told: bool) -> None:
    holder = ast.parse(text, mode="eval").body
    number = next(each for each in ast.walk(holder) if isinstance(each, ast.Constant))
    assert tells(number, ast.Constant(0), holder) is is_told
    assert tells(number, ast.Constant(5), holder)
