"""Marks in the gradebook, brought up to date with the results that count and with the policy."""

from __future__ import annotations

from datetime import datetime

from grader.gradebook.store import Gradebook
from grader.gradebook.worth.credit import Counted, marks
from grader.gradebook.worth.policy import Policy


def mark(book: Gradebook, policy: Policy, student: str, why: str, now: datetime) -> None:
    """Bring the automatic marks of one student up to date with the results that count."""
    book.keep_marks(student, marks(policy, counted(book, student)), why, now)


def counted(book: Gradebook, student: str) -> list[Counted]:
    """Return the attempts of a student, each with the result that counts for it."""
    found = book.counting(student)
    return [Counted(attempt, result, attempt.result) for attempt, result in found if attempt.result is not None]
