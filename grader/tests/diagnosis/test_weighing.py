"""Explanations weighed against one another: a row's best one is left, and what it beats is told in no other row.

What is told of a function yields to a broken one that it calls.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from grader.course.stage import Criterion
from grader.diagnosis.obvious import MISSING, OBVIOUS
from grader.diagnosis.slips.telling import Slip
from grader.diagnosis.weighing import chosen, one_cause, with_problems, without_callers, without_effects
from grader.outcome import Diagnosis, Outcome

KNOWN = Diagnosis("columns-for-rows", "forward", "a column was used", "use the row", declared=True)
OTHER = Diagnosis("negated", "forward", "the sign is wrong", "turn it", declared=True)
SHOWN = Diagnosis(sorted(OBVIOUS)[0], "forward", "it shows", "look")
FOUND = Diagnosis("slip-1", "forward", "nothing was subtracted", "subtract")
SLIP = Slip(FOUND, (0, 1), frozenset({"a", "b", "c"}))


def failed(test: str, row: str, *explains: Diagnosis) -> Outcome:
    return Outcome(test, row, True, "failed", explains=explains)


def names(outcomes: list[Outcome]) -> dict[str, list[str]]:
    return {each.test: [found.mistake for found in each.explains] for each in outcomes}


def test_what_gives_way_in_its_own_row_is_told_in_no_other() -> None:
    own = [failed("a", "forward", KNOWN, FOUND), failed("b", "forward", FOUND)]
    found = chosen([*own, failed("d", "solve", KNOWN)], [SLIP])
    assert names(found) == {"a": ["slip-1"], "b": ["slip-1"], "d": []}


def test_what_explains_the_other_row_as_well_is_told_there_in_its_place() -> None:
    own = [failed("a", "forward", KNOWN, FOUND), failed("b", "forward", FOUND)]
    found = chosen([*own, failed("c", "solve", KNOWN, FOUND)], [SLIP])
    assert names(found)["c"] == ["slip-1"]


def test_what_stands_in_its_own_row_is_told_elsewhere_too() -> None:
    outcomes = [failed("a", "forward", KNOWN), failed("d", "solve", KNOWN), failed("c", "other", FOUND)]
    assert names(chosen(outcomes, [SLIP])) == {"a": ["columns-for-rows"], "d": ["columns-for-rows"], "c": ["slip-1"]}


def test_a_mistake_whose_own_row_has_no_failure_is_left_to_other_rules() -> None:
    outcomes = [failed("d", "solve", KNOWN), failed("c", "other", FOUND)]
    assert names(chosen(outcomes, [SLIP]))["d"] == ["columns-for-rows"]


def test_what_an_answer_shows_by_itself_stays_where_it_shows() -> None:
    own = [failed("a", "forward", SHOWN, FOUND), failed("b", "forward", FOUND)]
    assert names(chosen([*own, failed("d", "solve", SHOWN)], [SLIP]))["d"] == [SHOWN.mistake]


def test_of_two_known_mistakes_that_tie_neither_is_told_beside_a_slip() -> None:
    found = chosen([failed("a", "forward", KNOWN, OTHER, FOUND)], [SLIP])
    assert names(found) == {"a": ["slip-1"]}


# A function that calls a broken one.

TOLD = Diagnosis("of-caller", "outer", "caller answers as if …", "fix")


class Rows:
    criteria = tuple(
        Criterion(row, row, (name,), (), ("", "", "")) for row, name in (("inner", "helper"), ("outer", "caller"))
    )


STAGE: Any = Rows()


def outcome(row: str, number: int, status: Any = "failed") -> Outcome:
    return Outcome(f"{row}-{number}", row, False, status)


def left(outcomes: list[Outcome], stage: Any = STAGE) -> list[tuple[Diagnosis, ...]]:
    found = without_callers(outcomes, stage, lambda _: "caller", lambda name: {name, "helper"})
    return [each.explains for each in found if each.criterion == "outer"]


def test_a_caller_of_a_broken_function_is_not_told() -> None:
    caller = replace(outcome("outer", 1), explains=(TOLD,))
    assert left([outcome("inner", 1), outcome("inner", 2), caller]) == [()]


def test_a_caller_of_what_mostly_passes_is_told() -> None:
    caller = replace(outcome("outer", 1), explains=(TOLD,))
    inner = [outcome("inner", 1), outcome("inner", 2, "passed"), outcome("inner", 3, "passed")]
    assert left([*inner, caller]) == [(TOLD,)]


def test_what_is_written_later_breaks_nothing_before() -> None:
    """A class whose next methods are still to come is no cause of what its first ones, and their users, do."""
    caller = replace(outcome("outer", 1), explains=(TOLD,))
    inner = [outcome("inner", 1), outcome("inner", 2)]

    class Later:
        criteria = tuple(replace(row, needs=needs) for row, needs in zip(Rows.criteria, (("outer",), ()), strict=True))

    assert left([*inner, caller], Later()) == [(TOLD,)]


def test_what_is_not_written_yet_is_not_broken() -> None:
    caller = replace(outcome("outer", 1), explains=(TOLD,))
    assert left([outcome("inner", 1, "not_started"), outcome("inner", 2, "not_started"), caller]) == [(TOLD,)]


def test_what_explains_the_broken_function_too_is_told() -> None:
    both = [replace(outcome(row, 1), explains=(TOLD,)) for row in ("inner", "outer")]
    assert left(both) == [(TOLD,)]


def test_why_a_search_broke_off_is_told_where_nothing_explains() -> None:
    caller = replace(outcome("outer", 1), explains=(TOLD,))
    found = with_problems([caller, outcome("outer", 2), outcome("inner", 1)], {"outer": "it took too long"})
    assert [each.unexplained for each in found] == ["", "it took too long", ""]


def test_what_one_test_admits_gives_way_to_what_explains_most_of_the_row() -> None:
    most = [failed(test, "forward", KNOWN) for test in "abc"]
    assert names(one_cause([*most, failed("d", "forward", OTHER)])) == {
        "a": [KNOWN.mistake], "b": [KNOWN.mistake], "c": [KNOWN.mistake], "d": [],
    }  # fmt: skip
    two = [*most, failed("d", "forward", OTHER), failed("e", "forward", OTHER)]
    assert one_cause(two) == two  # two tests are no coincidence
    elsewhere = [*most, failed("d", "solve", OTHER)]
    assert one_cause(elsewhere) == elsewhere
    shown = [*most, failed("d", "forward", SHOWN)]
    assert one_cause(shown) == shown  # what an answer shows is certain
    few = [failed("a", "forward", KNOWN), failed("b", "forward", KNOWN), failed("c", "forward", OTHER)]
    assert one_cause(few) == few


def test_a_refusal_that_is_missing_beside_wrong_values_of_a_known_mistake_is_its_effect() -> None:
    accepted = Diagnosis(MISSING, "forward", "it accepts a call", "check")
    both = [failed("a", "forward", KNOWN), failed("b", "forward", accepted)]
    assert names(without_effects(both)) == {"a": [KNOWN.mistake], "b": []}
    elsewhere = [failed("a", "solve", KNOWN), failed("b", "forward", accepted)]
    assert without_effects(elsewhere) == elsewhere
    refused = [replace(failed("a", "forward", KNOWN), kind="refusals"), failed("b", "forward", accepted)]
    assert without_effects(refused) == refused
