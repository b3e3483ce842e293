"""Verdicts, entries and gradebooks that tests of the report are given."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from grader.gradebook.figures import GradedAttempt, StudentRecord
from grader.gradebook.marks import Entry, update_marks
from grader.gradebook.policy import Policy
from grader.gradebook.records import Attempt, Key, Mark, Outcome, Result
from grader.gradebook.store import Gradebook

NOW = datetime(2026, 11, 22, 23, 59, tzinfo=UTC)
TEXT = "This is the square."


def failure(**other: Any) -> dict[str, Any]:
    found = {"test": "test_two[3]", "hidden": True, "status": "failed", "call": "double(3)", "message": "got 9",
             "cause": {"id": "squared", "criterion": "double", "text": TEXT, "fix": "Multiply by 2."},
             "where": "/home/me/ada.py:7", "help": None}  # fmt: skip
    return found | other


def verdict(double: bool = True, quadruple: bool = True, **other: Any) -> dict[str, Any]:
    """Return a stored verdict of two rows."""
    rows: list[dict[str, Any]] = [
        {"id": name, "text": f"{name} is right", "status": "passed" if passed else "failed", "kinds": {},
         "tests_passed": int(passed), "tests_total": 1, "values_right": False, "waits_for": [],
         "failures": [] if passed else [failure()]}
        for name, passed in {"double": double, "quadruple": quadruple}.items()
    ]  # fmt: skip
    found = {"title": "Numbers", "passed": double and quadruple, "criteria": rows, "problem": None, "feedback": "full"}
    return found | other


def entry(counts: dict[str, Any], student: str = "ada", points: float = 2.0, outcome: Outcome = "graded") -> Entry:
    given = Mark(student, "s01", points, 2.0, points, 1.0, 0, 0, "digest", 1)
    return Entry(student, "s01", "", outcome, given, None, counts, None, 1)


def sheet(*verdicts: dict[str, Any], student: str = "ada", **other: Any) -> StudentRecord:
    """Return a student whose last verdict counts."""
    tries = tuple(GradedAttempt(each, 0.5 + place) for place, each in enumerate(verdicts))
    return StudentRecord(student, (entry(verdicts[-1], student, **other),), {"s01": tries})


def keep(book: Gradebook, student: str, *verdicts: dict[str, Any], stage: str = "s01") -> None:
    """Put a student's attempts into a gradebook."""
    with book.changing():
        for place, each in enumerate(verdicts):
            attempt = Attempt(student, stage, f"{student}-{stage}-{place}", NOW, "csv", "x")
            book.keep_attempt(attempt)
            number = book.keep_result(Result(Key(*_key(attempt), "1", 1, "process"), "graded", each, NOW, 0.5))
            book.count_for(*_key(attempt), number)
        update_marks(book, Policy(), student, "graded", NOW)


def _key(attempt: Attempt) -> tuple[str, str, str]:
    return attempt.student, attempt.stage, attempt.digest
