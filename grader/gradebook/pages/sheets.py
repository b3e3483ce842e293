"""A gradebook read student by student: what counts in each stage, and every verdict on the way there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from grader.gradebook.store import Gradebook
from grader.gradebook.table import Entry, entries

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Try:
    """A verdict on something that was handed in, and the seconds that it took."""

    verdict: Document
    seconds: float


@dataclass(frozen=True)
class Sheet:
    """All of one student: the entries that count, and by stage each attempt that was graded, the earliest first."""

    student: str
    entries: tuple[Entry, ...]
    tries: Mapping[str, tuple[Try, ...]]

    @property
    def points(self) -> float:
        """The sum of the points that are known."""
        return sum(each.points or 0.0 for each in self.entries)

    @property
    def passed(self) -> int:
        """How many stages pass."""
        return sum(each.passed for each in self.entries)


def sheets(book: Gradebook, stages: frozenset[str] | None = None) -> Iterator[Sheet]:
    """Yield the students in the order of their names, one in memory at a time; with stages, only what is of these."""
    for student, cells in groupby(entries(book), key=lambda entry: entry.student):
        mine = tuple(each for each in cells if stages is None or each.stage in stages)
        if mine:
            yield Sheet(student, mine, _tries(book, student))


def _tries(book: Gradebook, student: str) -> Mapping[str, tuple[Try, ...]]:
    found: dict[str, tuple[Try, ...]] = {}
    for attempt in book.attempts(student):
        if attempt.result is None:
            continue
        result = book.result(attempt.result)
        if result.outcome == "graded":
            found[attempt.stage] = (*found.get(attempt.stage, ()), Try(result.verdict, result.seconds))
    return found
