"""Repairs that one test needs alike are told apart by other rows: failing tests, and those that use a helper."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from grader.diagnosis.repairs.confirmed import Confirmer
from grader.diagnosis.slips.probes import Failing
from grader.diagnosis.slips.telling import Slip
from grader.outcome import Diagnosis
from grader.remote.record import Record


class Test:
    """A whole test that is right with some changes."""

    __test__ = False

    def __init__(self, *right: int) -> None:
        self.right = right

    def score(self, numbers: Any) -> Any:
        return numbers

    def is_right(self, score: Any) -> bool:
        return bool(set(score) & set(self.right))


def failing(test: str, label: str = "f") -> Failing:
    record: Any = SimpleNamespace(kind="call", label=label, args=(), kwargs={})
    records: list[Record] = [record]
    return Failing(test, records, {})


def told(number: int, line: int) -> Any:
    change = SimpleNamespace(statement=SimpleNamespace(lineno=line))
    repair = SimpleNamespace(numbers=(number,), changes=[change], written=None)
    return Slip(Diagnosis(f"repair-{number}", "row", f"f, line {line}", ""), (-1, 1, 0), frozenset({"own"})), repair


def ordered(others: dict[str, Test], *pairs: Any) -> list[str]:
    nothing: Any = SimpleNamespace(place=lambda repair: None)
    answers: Any = SimpleNamespace(whole=lambda each: others.get(each.test))
    made = Confirmer(nothing, nothing, answers, [failing(name) for name in ("own", *others)])
    return [slip.diagnosis.mistake for slip, _ in made.ordered(pairs, failing("own"))]


def test_the_one_that_puts_other_rows_right_is_told() -> None:
    others = {"elsewhere": Test(2), "further": Test(2, 1)}
    assert ordered(others, told(1, 10), told(2, 20)) == ["repair-2"]


def test_nothing_is_told_where_they_put_as_much_right() -> None:
    assert ordered({"elsewhere": Test(1, 2)}, told(1, 10), told(2, 20)) == []
    assert ordered({}, told(1, 10), told(2, 20)) == []


def test_of_one_line_either_may_be_told() -> None:
    assert ordered({}, told(1, 10), told(2, 10)) == ["repair-1", "repair-2"]


def users(function: str, *passed: tuple[str, str, Test]) -> list[Any]:
    """Return the tests that may speak against a repair of one function, which g and f use."""
    nothing: Any = SimpleNamespace(place=lambda repair: None)
    trials = {name: test for name, _, test in passed}
    answers: Any = SimpleNamespace(whole=lambda each: trials[each.test])
    made = Confirmer(nothing, nothing, answers, [], lambda: [failing(*each[:2]) for each in passed])
    made._passing.update({name: True for name, _, _ in passed})
    written = SimpleNamespace(reached=lambda label: {"f": ["f", "help"], "g": ["g", "help"]}.get(label, [label]))
    repair: Any = SimpleNamespace(all=[SimpleNamespace(function=function)], written=written)
    return made._users(repair, failing("own"))


def test_what_passed_by_another_function_speaks_for_a_helper() -> None:
    by_g, by_h = Test(), Test()
    assert users("help", ("one", "g", by_g), ("two", "h", by_h), ("three", "f", Test())) == [by_g]


def test_what_a_test_calls_itself_is_no_helper() -> None:
    assert users("f", ("one", "g", Test())) == []


def test_several_tests_that_admit_two_places_are_told_apart_by_other_rows_too() -> None:
    one, other = (
        (Slip(slip.diagnosis, (-2, 1, 0), frozenset({"own", "beside"})), repair)
        for slip, repair in (told(1, 10), told(2, 20))
    )
    assert ordered({"elsewhere": Test(2), "beside": Test(1, 2)}, one, other) == ["repair-2"]
    assert ordered({"beside": Test(1, 2)}, one, other) == ["repair-1", "repair-2"]
