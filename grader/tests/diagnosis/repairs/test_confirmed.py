"""Repairs that one test needs alike are told apart by other rows: failing tests, and those that use a helper."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from grader.diagnosis.repairs.attempts import Row
from grader.diagnosis.repairs.confirmed import Confirmer
from grader.diagnosis.slips.probes import Failing
from grader.diagnosis.slips.telling import Slip
from grader.outcome import Diagnosis
from grader.sandbox.record import Record


class Test:
    """A whole test that is right with some changes."""

    __test__ = False

    def __init__(self, *right: int) -> None:
        self.right = right

    def score(self, numbers: Any) -> Any:
        return numbers

    def scores(self, groups: Any) -> Any:
        return groups

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


def test_far_more_tests_than_a_few_may_choose() -> None:
    others = {f"test {number}": Test(1, 2) for number in range(9)} | {"the last": Test(2)}
    assert ordered(others, told(1, 10), told(2, 20)) == ["repair-2"]


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


def confirmed(
    monkeypatch: pytest.MonkeyPatch,
    changes: int,
    peers: dict[str, Test],
    refused: dict[str, Test],
    adds: bool = False,
    result: object = 0.5,
) -> list[str]:
    """Return what stands of one repair of several changes, where some tests fail and others passed with a refusal."""
    for name, value in (("aside", False), ("grown", 0), ("diagnosis_of", Diagnosis("repair-1", "row", "f", ""))):
        monkeypatch.setattr(f"grader.diagnosis.repairs.confirmed.{name}", lambda *_, value=value: value)
    change = SimpleNamespace(function="f", statement=SimpleNamespace(lineno=1))
    of = {"all": (change,) * changes, "changes": (change,), "likelihood": 0, "numbers": (1,), "adds": adds}
    repair: Any = type("Known", (), of)()
    nothing: Any = SimpleNamespace(place=lambda repair: None, constants=frozenset())
    answers: Any = SimpleNamespace(whole=lambda each: (peers | refused).get(each.test))
    made = Confirmer(nothing, nothing, answers)
    made._passing.update(dict.fromkeys(refused, True))
    monkeypatch.setattr("grader.diagnosis.repairs.confirmed.needed", lambda *_: changes)
    tests = [failing(name) for name in ("own", *peers)]
    tests[0].records[0].result = result
    row = Row("row", tests, (), frozenset(), frozenset(), [failing(name) for name in refused])
    return [slip.diagnosis.mistake for slip, _ in made.confirmed([repair], tests[0], row)]


def test_several_changes_have_to_put_every_test_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where two changes together leave a test wrong, two others may do as well."""
    right, wrong = Test(1), Test()
    assert confirmed(monkeypatch, 2, {"b": right, "c": right}, {}) == ["repair-1"]
    assert confirmed(monkeypatch, 2, {"b": right, "c": wrong}, {}) == []
    assert confirmed(monkeypatch, 1, {"b": right, "c": wrong}, {}) == ["repair-1"]


@pytest.mark.parametrize(("adds", "result", "is_told"), [(True, [1, 2], False), (True, 0.5, True), (False, 3, True)])
def test_a_term_that_is_put_in_for_few_whole_numbers_has_to_put_every_test_right(
    monkeypatch: pytest.MonkeyPatch, adds: bool, result: object, is_told: bool
) -> None:
    found = confirmed(monkeypatch, 1, {"b": Test(1), "c": Test()}, {}, adds, result)
    assert found == (["repair-1"] if is_told else [])
    assert confirmed(monkeypatch, 1, {"b": Test(1), "c": Test(1)}, {}, adds, result) == ["repair-1"]


def test_what_is_refused_rightly_has_to_stay_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert confirmed(monkeypatch, 1, {"b": Test(1)}, {"refusal": Test(1)}) == ["repair-1"]
    assert confirmed(monkeypatch, 1, {"b": Test(1)}, {"refusal": Test()}) == []
