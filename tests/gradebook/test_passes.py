"""A gradebook decides its results by the tests that count now, whichever counted when they were kept."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from grader.gradebook.marks import table, update_marks
from grader.gradebook.policy import Policy, StagePolicy
from grader.gradebook.records import Attempt, Key, Result
from grader.gradebook.store import Gradebook
from tests.report.test_stored import strict
from tests.support.verdicts import SCORES, SPLIT, TEXTBOOK

NOW = datetime(2026, 11, 22, 23, 59, tzinfo=UTC)
STRICT = Policy(other=StagePolicy(passes="all"))


def keep(book: Gradebook, student: str, document: dict[str, Any], policy: Policy) -> None:
    attempt = Attempt(student, "s15", f"{student:m>64}", NOW, "file", f"{student}.py")
    with book.changing():
        book.keep_attempt(attempt)
        number = book.keep_result(
            Result(Key(student, "s15", attempt.digest, "1", 7, "process"), "graded", document, NOW, 1.0)
        )
        book.count_for(student, "s15", attempt.digest, number)
        update_marks(book, policy, student, "graded", NOW)


@pytest.fixture
def strict_book(tmp_path: Path) -> Path:
    """A gradebook of a class where all tests counted: of what lacks only refusals, and of what is wrong."""
    with Gradebook.open(tmp_path, create=True) as book:
        keep(book, "ada", strict(SCORES, TEXTBOOK), STRICT)
        keep(book, "bob", strict(SCORES, SPLIT), STRICT)
    return tmp_path


def told(book: Gradebook) -> dict[str, tuple[bool, float | None, dict[str, int]]]:
    return {each.student: (each.passed, each.points, dict(each.counts)) for each in table(book)}


ADA, BOB = {"criteria": 2, "passed": 2, "robust": 1}, {"criteria": 2, "passed": 1, "robust": 1}


def test_results_are_decided_by_what_counts_now_and_stay_as_they_are(strict_book: Path) -> None:
    with Gradebook.open(strict_book) as book:
        assert told(book) == {"ada": (True, 1.0, ADA), "bob": (False, 1.0, BOB)}  # marks wait for a run
        with book.changing():
            for student in ("ada", "bob"):
                update_marks(book, Policy(), student, "what makes a criterion pass", NOW)
        assert told(book) == {"ada": (True, 2.0, ADA), "bob": (False, 1.0, BOB)}
        book.decide_by({"s15": "all"})
        assert [each.verdict["passed"] for each in book.results()] == [False, False]


def test_what_counts_is_kept_for_whoever_opens_it_without_class_toml(strict_book: Path) -> None:
    with Gradebook.open(strict_book) as book, book.changing():
        book.keep_passes({"s15": "all"})
    with Gradebook.open(strict_book) as book:
        assert book.passes_of("s15") == "all" and book.passes_of("s16") == "mathematics"
        assert not told(book)["ada"][0]
        book.decide_by({"s15": "mathematics"})
        assert told(book)["ada"][0]
    with Gradebook.open(strict_book) as book:
        assert book.passes_of("s15") == "all"


def test_a_word_of_a_newer_grader_counts_as_none(strict_book: Path) -> None:
    with Gradebook.open(strict_book) as book:
        with book.changing():
            book._run("INSERT INTO passes VALUES ('s15', 'some')")
        assert book.passes_of("s15") == "mathematics"


def test_a_policy_says_it_for_each_stage() -> None:
    policy = replace(STRICT, stages={"s02": StagePolicy()})
    assert (policy.of("s02").passes, policy.of("s03").passes) == ("mathematics", "all")
