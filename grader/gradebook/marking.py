"""Marks in the gradebook, brought up to date with the results that count and with the policy."""

from __future__ import annotations

from datetime import datetime

from grader.gradebook.store import Gradebook
from grader.gradebook.worth.credit import Counted, marks
from grader.gradebook.worth.policy import Policy


def mark(book: Gradebook, policy: Policy, student: str, why: str, now: datetime) -> None:
    """Bring the automatic marks of one student up to date with the results that count."""
    for each in marks(policy, counted(book, student)):
        book.keep_mark(each, why, now)


def counted(book: Gradebook, student: str) -> list[Counted]:
    """Return the attempts of a student, each with the result that counts for it."""
    return [
        Counted(attempt, book.result(attempt.result), attempt.result)
        for attempt in book.attempts(student)
        if attempt.result is not None
    ]
