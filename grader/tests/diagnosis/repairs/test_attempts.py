"""In which order the functions of a failing test are changed: those of which all rows pass come after the others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from grader.diagnosis.repairs.attempts import Candidates, Row
from grader.tests.diagnosis.repairs.made import written

TEXT = """
def helper(x):
    return x + 1

def of_others(x):
    return helper(x)

def own(x):
    return of_others(x) + near(x)

def near(x):
    return x * 2
"""


def order(own: set[str], passing: set[str]) -> list[str]:
    """Return the functions in the order in which their changes are made."""
    asked: list[str] = []
    text = written(TEXT, "own(1.0)")
    row = Row("row", [], [], frozenset(), frozenset(own), ends_at=1.0, passing=frozenset(passing))
    forms: Any = SimpleNamespace(made=lambda written, name, *_: asked.append(name))
    trial: Any = SimpleNamespace(right=[SimpleNamespace(label="own")])
    assert not list(Candidates(forms, row, lambda: 0.0).of(text, trial, {}))
    return list(dict.fromkeys(asked))


def test_what_passes_and_what_it_alone_calls_come_last() -> None:
    assert set(order({"own"}, {"of_others"})[:2]) == {"own", "near"}


def test_of_functions_that_fail_each_has_its_turn() -> None:
    assert set(order({"own"}, set())) == {"own", "near", "of_others", "helper"}


def test_where_nobody_knows_whose_row_it_is_all_are_asked_alike() -> None:
    assert set(order(set(), {"of_others"})) == {"own", "near", "of_others", "helper"}
