"""What a student's page may tell of a stored verdict: less than it holds where feedback is lower now.

A stored verdict was lowered once, when it was graded (report/feedback.py); this does the same to its document. A
document does not say which explanations the course declared, so one that is lowered here keeps none of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from grader.course.stage import FEEDBACK, Feedback
from grader.criterion import counts_in
from grader.gradebook.pages.sheets import Document
from grader.report.feedback import HELD_BACK, TESTS, lower
from grader.report.terminal.words import lacking_words
from grader.verdict import SOURCE

MOST_FAILURES = 3  # of a row


@dataclass(frozen=True)
class Told:
    """One failed test as its page tells it."""

    test: str
    call: str
    message: str
    help: str
    mistake: str
    fix: str
    where: str


@dataclass(frozen=True)
class Row:
    """One row of the checklist; more counts failures that are left out, lacking says which robustness is missing."""

    text: str
    status: str
    passed: int
    total: int
    lacking: str
    waits_for: tuple[str, ...]
    failures: tuple[Told, ...]
    more: int


def rows(verdict: Document, feedback: Feedback) -> tuple[Row, ...]:
    """Return the rows of a stored verdict with what may be told of their failures."""
    stored = verdict.get("feedback")
    before: Feedback = next((each for each in FEEDBACK if each == stored), "full")
    level = lower(feedback, before)
    lent = any(use.get("source") == "reference" for use in verdict.get("uses") or ())
    return tuple(_row(row, level, level != before, lent) for row in verdict.get("criteria") or ())


def _kept(row: Document, beside_reference: bool) -> list[Document]:
    """Return the failures of a row; of a run beside a reference, whose code could read it, only our own words.

    Earlier graders stored more of such a run.
    """
    failures: list[Document] = list(row.get("failures") or ())
    return [each for each in failures if each.get("test") in (TESTS, SOURCE)] if beside_reference else failures


def _row(row: Document, level: Feedback, lowered: bool, beside_reference: bool) -> Row:
    told = tuple(_told(_kept(row, beside_reference), level, lowered))
    counts = counts_in(row)
    is_told = row["status"] == "passed" or row["values_right"]
    return Row(
        str(row.get("text") or row["id"]),
        str(row["status"]),
        int(row["tests_passed"]),
        int(row["tests_total"]),
        lacking_words(counts.lacking) if is_told else "",
        () if lowered else tuple(map(str, row.get("waits_for") or ())),
        told[:MOST_FAILURES],
        max(0, len(told) - MOST_FAILURES),
    )


def _told(failures: Any, level: Feedback, lowered: bool) -> Iterator[Told]:
    for each in failures:
        held = bool(each.get("hidden", True)) and level != "full"
        if held and level == "verdict":
            continue
        cause: Document = {} if lowered else each.get("cause") or {}
        mistake, fix = str(cause.get("text") or ""), str(cause.get("fix") or "")
        test = str(each.get("test") or "")
        if held:
            yield Told(test.partition("[")[0], "", HELD_BACK, "", mistake, fix, "")
        else:
            message, call = str(each.get("message") or ""), str(each.get("call") or "")
            yield Told(test, call, message, str(each.get("help") or ""), mistake, fix, _place(each.get("where")))


def _place(where: Any) -> str:
    """Return file:line without the folders, which are of the machine that graded."""
    return re.split(r"[/\\]", str(where or ""))[-1]
