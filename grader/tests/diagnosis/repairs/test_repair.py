"""Of several repairs of one line, which is the likelier."""

from __future__ import annotations

import ast
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from grader.diagnosis.repairs.repair import aside, reshapes


def change(statement: str, old: str, new: str) -> Any:
    parsed = (ast.parse(text, mode="eval").body for text in (old, new))
    before, after = (getattr(each, "slice", each) for each in parsed)
    return SimpleNamespace(statement=ast.parse(statement).body[0], old=before, new=after)


@pytest.mark.parametrize(
    ("statement", "old", "new", "is_aside"),
    [
        ("if start + n >= most: raise ValueError", "start + n", "start - n", True),
        ("if start + n >= most: raise ValueError", "start + n >= most", "start + n > most", False),
        ("while start * n >= most: n += 1", "start * n", "start + n", True),
        ("x = start + n", "start + n", "start - n", False),
        ("x = a[i:n]", "a[i:n]", "a[i:n + 1]", True),
        ("x = a[i:n]", "a[i:n]", "a[i - 1:n]", True),
        ("x = a[i:n]", "a[i:n]", "a[i:i + n]", False),
        ("x = a[i:n + 1]", "a[i:n + 1]", "a[i:n]", False),
    ],
)
def test_a_sum_in_a_condition_yields_to_its_comparison_and_a_bound_moved_by_1_to_a_name(
    statement: str, old: str, new: str, is_aside: bool
) -> None:
    repair: Any = SimpleNamespace(changes=(change(statement, old, new),))
    assert aside(repair) is is_aside


@pytest.mark.parametrize(("new", "expected"), [("v", False), ("table", True), ("v + 1", False), ("unknown", True)])
def test_a_name_for_an_array_of_another_shape_is_tried_later(new: str, expected: bool) -> None:
    values = {"u": np.ones((2, 3)), "v": np.zeros((2, 3)), "table": np.zeros((5, 3))}
    assert reshapes(change("x = u", "u", new), values) is expected
