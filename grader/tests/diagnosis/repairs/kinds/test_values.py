"""What leaves a value as it is is no change to try: something else is gone with it."""

from __future__ import annotations

import ast

import pytest

from grader.diagnosis.repairs.kinds.values import is_idle


@pytest.mark.parametrize("text", ["1 * x", "x * 1", "x / 1", "x ** 1", "0 + x", "x + 0", "x - 0", "(1 - 0) * x"])
def test_what_changes_nothing_is_idle(text: str) -> None:
    assert is_idle(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize("text", ["2 * x", "0 * x", "0 - x", "x + 1", "1 / x", "(1 - y) * x", "x"])
def test_what_changes_a_value_is_not(text: str) -> None:
    assert not is_idle(ast.parse(text, mode="eval").body)
