"""An answer that is wrong by one factor is put right by a change of that factor, which is tried first."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

from grader.diagnosis.repairs.held.scale import factor, scales
from grader.diagnosis.slips.schema import Change

VALUES = {"n": 4, "x": np.ones(2), "half": 0.5, "yes": True}


def change(old: str, new: str) -> Change:
    """Return a change of one text to another, in which what stands in both is one node."""
    first, second = (ast.parse(each, mode="eval").body for each in (old, new))
    for whole, part in ((first, second), (second, first)):
        for name in ("left", "operand"):
            if ast.dump(getattr(whole, name, ast.Pass())) == ast.dump(part):
                setattr(whole, name, part)
    statement = ast.Return(first)
    return Change(1, "f", first, second, statement, statement)


def value_of(node: ast.AST) -> Any:
    return VALUES.get(getattr(node, "id", ""))


@pytest.mark.parametrize(
    ("got", "right", "wanted"),
    [
        ([2.0, 0.0, 4.0], [1.0, 0.0, 2.0], 0.5),
        (3.0, -3.0, -1.0),
        ([1.0, 2.0], [1.0, 2.0], None),
        ([1.0, 2.0], [2.0, 3.0], None),
        ([1.0, 0.0], [2.0, 1.0], None),
        ([0.0, 0.0], [1.0, 1.0], None),
        ([1.0, np.nan], [2.0, 2.0], None),
        ([1.0, 2.0], [1.0], None),
        ("text", 1.0, None),
        (None, {}, None),
    ],
)
def test_a_factor_is_that_of_every_number(got: Any, right: Any, wanted: float | None) -> None:
    assert factor(got, right) == wanted


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("x", "x / n", 0.25),
        ("x / n", "x", 4.0),
        ("x", "x / n", 2.0),  # a divisor of which the root is missing
        ("2", "4", 0.5),
        ("x", "-x", -1.0),
        ("-x", "x", -3.0),
        ("np.mean", "np.sum", 7.0),
    ],
)
def test_what_alters_a_value_by_the_factor_is_tried_first(old: str, new: str, wanted: float) -> None:
    assert scales(change(old, new), wanted, value_of)


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("x", "x / n", 3.0),
        ("x", "x / n", None),
        ("2", "7", 0.5),
        ("x", "-x", 2.0),
        ("x", "x * x", 2.0),
        ("x", "x * yes", 1.5),
        ("np.mean", "np.max", 7.0),
        ("x", "n", 4.0),
    ],
)
def test_other_changes_wait(old: str, new: str, wanted: float | None) -> None:
    assert not scales(change(old, new), wanted, value_of)


def test_a_change_of_lines_alters_no_single_value() -> None:
    whole = ast.Return(ast.Name("x"))
    assert not scales(Change(1, "f", whole, [whole], whole, whole), 2.0, value_of)
