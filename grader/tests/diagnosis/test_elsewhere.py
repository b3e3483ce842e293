"""A known mistake is looked for in the tests of other rows where its own row shows it, or cannot."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from grader.course.answers import Mistake
from grader.diagnosis.elsewhere import SECONDS, from_other_rows
from grader.diagnosis.slips.probes import Failing
from grader.outcome import Diagnosis, Outcome

MISTAKES = tuple(Mistake(f"of-{row}", row, "f", "text", "fix", "") for row in ("one", "two", "three"))


def outcome(row: str, number: int = 1, status: Any = "failed", *explains: str) -> Outcome:
    told = tuple(Diagnosis(name, row, "text", "fix", declared=True) for name in explains)
    return Outcome(f"{row}-{number}", row, False, status, explains=told)


class Answers:
    """Says that the mistakes of some names explain every test, and keeps what was asked."""

    def __init__(self, *explaining: str) -> None:
        self.mistakes = MISTAKES
        self.asked: list[set[str]] = []
        self._explaining = explaining

    def explain(self, records: Any, names: Any, among: Any) -> tuple[Diagnosis, ...]:
        self.asked.append({each.id for each in among})
        return tuple(
            Diagnosis(each.id, each.criterion, "text", "fix", declared=True)
            for each in among
            if each.id in self._explaining
        )


def told(outcomes: list[Outcome], answers: Answers, seconds: float = 0.0) -> dict[str, list[str]]:
    records: Any = [SimpleNamespace(seconds=seconds)]
    failed: dict[str, list[Failing]] = {}
    for each in outcomes:
        if each.status == "failed":
            failed.setdefault(each.criterion, []).append(Failing(each.test, records, {}))
    anyhow: Any = SimpleNamespace(mistakes=answers.mistakes, explain=answers.explain)
    found = from_other_rows(outcomes, failed, anyhow)
    return {each.test: [one.mistake for one in each.explains] for each in found}


def test_what_explains_its_own_row_is_asked_of_others() -> None:
    answers = Answers("of-one")
    found = told([outcome("one", 1, "failed", "of-one"), outcome("two"), outcome("three", 1, "passed")], answers)
    assert found == {"one-1": ["of-one"], "two-1": ["of-one"], "three-1": []}
    assert answers.asked == [{"of-one"}]


def test_tests_that_take_longer_than_there_is_time_for_are_not_asked() -> None:
    rows = [outcome("one", 1, "failed", "of-one"), outcome("two"), outcome("three", 1, "passed")]
    answers = Answers("of-one")
    assert told(rows, answers, SECONDS / 2)["two-1"] == ["of-one"]
    answers = Answers("of-one")
    assert told(rows, answers, 2 * SECONDS) == {"one-1": ["of-one"], "two-1": [], "three-1": []}
    assert answers.asked == []


def test_what_explains_nothing_in_its_own_row_is_not_asked() -> None:
    answers = Answers("of-one")
    assert told([outcome("one"), outcome("two"), outcome("three", 1, "passed")], answers)["two-1"] == []
    assert answers.asked == []


def test_what_has_no_test_that_could_tell_is_asked() -> None:
    answers = Answers("of-three")
    found = told([outcome("one"), outcome("two"), outcome("three", 1, "crashed")], answers)
    assert found["one-1"] == found["two-1"] == ["of-three"]


def test_what_two_tests_of_a_row_refute_is_not_asked_again() -> None:
    answers = Answers()
    rows = [
        outcome("one", 1, "failed", "of-one"),
        *(outcome("two", n) for n in range(5)),
        outcome("three", 1, "passed"),
    ]
    told(rows, answers)
    assert answers.asked == [{"of-one"}, {"of-one"}]
