"""Tests that pass as a whole with what another row needed are explained by it."""

from __future__ import annotations

import ast
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from grader.diagnosis.repairs.attempts import Row
from grader.diagnosis.repairs.passing import Passing
from grader.diagnosis.repairs.repair import Repair
from grader.diagnosis.repairs.standing import can_be_drawn
from grader.tests.diagnosis.repairs.made import written
from grader.tests.diagnosis.repairs.test_confirmed import failing

TEXT = "def f(x):\n    return x * 4"


def repairs() -> list[Repair]:
    """Return every change of the text's one function that stands for what is easily confused."""
    source = written(TEXT, "f(1.0)")
    return [Repair((change,), source) for change in source.schema("f", 0, 1, frozenset())[1]]


def known(*passing: str) -> Any:
    """Return what is said of a repair with which some tests pass."""
    runs: Any = SimpleNamespace(passes=lambda numbers, test: test in passing)
    tests = [failing("one"), failing("two")]
    row = Row("row", tests, [], frozenset(), frozenset())
    return Passing(runs, runs).known(repairs()[0], tests, row)


def test_a_row_is_explained_whose_tests_pass() -> None:
    assert known("one", "two").tests == {"one", "two"}
    assert known("one", "two").diagnosis.text.startswith("f answers as if ")


def test_a_row_is_not_explained_of_which_a_test_still_fails() -> None:
    assert known("one") is None


def test_what_a_right_module_has_may_be_drawn() -> None:
    inner = next(each for each in repairs() if isinstance(each.changes[0].old, ast.Constant))
    assert can_be_drawn(inner, 1) and not can_be_drawn(inner, 0)
    assert can_be_drawn(Repair((replace(inner.changes[0], kind="aligned"),), inner.written), 0)
