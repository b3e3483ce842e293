"""A check of arguments that lets the bound itself pass is named by its line; another check that is missing is not."""

from __future__ import annotations

import numpy as np
import pytest

from tests.diagnosis.engine import Call, causes

RIGHT = """
    import numpy as np


    def _inside(row, size):
        if not 0 <= row < size:
            raise ValueError("row is not inside")


    def picked(table, row):
        _inside(row, len(table))
        return table[row] * 1.5


    def other(table, row):
        _inside(row, len(table))
        return table[row] * 2.5


    def first(table, size):
        if size < 1 or size > len(table):
            raise ValueError("size does not fit")
        return table[:size] * 1.5
"""
TABLE = np.arange(6.0).reshape(3, 2) + 0.25
PICKED: list[list[Call]] = [[("picked", (TABLE, 3))], [("picked", (TABLE[:2], 2))]]
BOTH: list[list[Call]] = [*PICKED, [("other", (TABLE, 3))]]
FIRST: list[list[Call]] = [[("first", (TABLE, 0))]]
GOOD: list[list[Call]] = [
    [("picked", (TABLE, 0)), ("picked", (TABLE, 2))],
    [("first", (TABLE, 1)), ("first", (TABLE, 3))],
]


@pytest.mark.parametrize(
    ("old", "new", "calls", "told"),
    [
        ("row < size", "row <= size", PICKED, ("comparison-wrong", "_inside", 5)),
        ("row < size", "row <= size", BOTH, ("comparison-wrong", "_inside", 5)),
        ("size < 1", "size < 0", FIRST, ("comparison-wrong", "first", 20)),
        ("size < 1 or ", "", FIRST, None),
    ],
)
def test_a_bound_that_passes_is_named(
    old: str, new: str, calls: list[list[Call]], told: tuple[str, str, int] | None
) -> None:
    assert RIGHT.count(old) == 1
    found = causes(RIGHT, RIGHT.replace(old, new), calls, GOOD)
    assert [(each.id, each.function, each.line) for each in found] == ([told] if told else [])
