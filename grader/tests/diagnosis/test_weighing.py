"""What is told of a function yields to a broken one that it calls."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from grader.course.stage import Criterion
from grader.diagnosis.weighing import broken_functions, with_problems, without_callers
from grader.outcome import Diagnosis, Outcome

TOLD = Diagnosis("of-caller", "outer", "caller answers as if …", "fix")


class Rows:
    criteria = tuple(
        Criterion(row, row, (name,), (), ("", "", "")) for row, name in (("inner", "helper"), ("outer", "caller"))
    )


STAGE: Any = Rows()


def outcome(row: str, number: int, status: Any = "failed") -> Outcome:
    return Outcome(f"{row}-{number}", row, False, status)


def left(outcomes: list[Outcome]) -> list[tuple[Diagnosis, ...]]:
    broken = broken_functions(outcomes, STAGE)
    found = without_callers(outcomes, broken, lambda _: "caller", lambda name: {name, "helper"})
    return [each.explains for each in found if each.criterion == "outer"]


def test_a_caller_of_a_broken_function_is_not_told() -> None:
    caller = replace(outcome("outer", 1), explains=(TOLD,))
    assert left([outcome("inner", 1), outcome("inner", 2), caller]) == [()]


def test_a_caller_of_what_mostly_passes_is_told() -> None:
    caller = replace(outcome("outer", 1), explains=(TOLD,))
    inner = [outcome("inner", 1), outcome("inner", 2, "passed"), outcome("inner", 3, "passed")]
    assert left([*inner, caller]) == [(TOLD,)]


def test_what_explains_the_broken_function_too_is_told() -> None:
    both = [replace(outcome(row, 1), explains=(TOLD,)) for row in ("inner", "outer")]
    assert left(both) == [(TOLD,)]


def test_why_a_search_broke_off_is_told_where_nothing_explains() -> None:
    caller = replace(outcome("outer", 1), explains=(TOLD,))
    found = with_problems([caller, outcome("outer", 2), outcome("inner", 1)], {"outer": "it took too long"})
    assert [each.unexplained for each in found] == ["", "it took too long", ""]
