"""Asks a module what tests asked that passed: where it answers as they were answered, they need not be run.

Such a test costs its questions alone. Nothing is taken from one module to another but what this one answers itself, and
what is answered otherwise says nothing: the test is run. A few tests are asked in one process, which each of them has
to leave as it was; else none of them counts.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

from grader.judging.calls import Involved
from grader.judging.processes.marks import UNTOLD, Mark, Marks
from grader.judging.recall.memory import Book, Remembered
from grader.judging.sharing import Sharing
from grader.judging.suite import Suite, criterion_of, name_of
from grader.judging.task import TESTS_AT_ONCE
from grader.remote.connection import Connection
from grader.remote.processes.kept import Kept
from grader.remote.processes.process import LearnerProcess
from grader.remote.transcripts.asking import MOST_AHEAD, Strayed, asked_again
from grader.remote.transcripts.questions import Differs, Passed, Question, likely

SECONDS = 0.5  # for the answers to one test's questions; what takes longer is left to the test itself
PART = 0.05  # of the stage's time, for all questions together: a module that is slow needs the rest to pass
MOST_WAYS = 4  # that are tried for one test, whose questions depend on its answers
Group = list[tuple[int, Remembered]]  # tests by their places


class Inquiry:
    """What one judge asks a module, and what it was answered otherwise, by test."""

    def __init__(
        self, suite: Suite, process: LearnerProcess, sharing: Sharing, involved: Involved, marks: Marks
    ) -> None:
        self.differs: dict[str, tuple[Differs, bool]] = {}  # and whether the test is known for steady answers
        self._suite = suite
        self._process = process
        self._sharing = sharing
        self._involved = involved
        self._marks = marks
        self.left_out = 0  # functions, as bits: those that have answered otherwise, and those that are run in any case
        self._ways: dict[int, list[list[Question]]] = {}  # by place, what was to be asked; the last is the next to try
        limits = suite.stage.limits
        self._seconds = min(SECONDS, limits.call_seconds)
        self._left = PART * limits.stage_seconds
        self._is_over = False  # the module does not answer in time, or leaves something behind in its process

    def mark(self, book: Book, items: Sequence[pytest.Item], places: Sequence[int], ends_at: float) -> None:
        """Mark the tests of which the module answers all questions as a module did that passed."""
        group: Group = []
        for place in places:
            known = book.memory.of(name_of(items[place]), self._process.names) if self._marks.is_open(place) else None
            if known is None:
                continue
            hidden = [self._suite.is_hidden(items[each]) for each, _ in [*group[:1], (place, known)]]
            if len(group) == TESTS_AT_ONCE or hidden[0] != hidden[-1]:
                self._mark(book, items, group, ends_at)
                group = []
            group.append((place, known))
        self._mark(book, items, group, ends_at)

    def _mark(self, book: Book, items: Sequence[pytest.Item], group: Group, ends_at: float) -> None:
        """Mark the tests of one group that pass, asked in one process."""
        while group := [each for each in group if not self._leads_elsewhere(each[1])]:
            found, differs = self._asked(items[group[0][0]], group, ends_at)
            if len(found) == len(group):
                for (place, _), mark in zip(group, found, strict=True):
                    self._marks.passed(place, mark)
                    book.pages.again(name_of(items[place]))
                return
            place, known = group[len(found)]
            if differs is not None:
                self.differs[name_of(items[place])] = differs, known.is_steady
                self.left_out |= self._involved.of(differs.label) if known.is_steady else 0
                self._is_over |= differs.late or differs.step < 0  # something was left behind
            if differs is not None or len(self._ways[place]) > MOST_WAYS:
                group.remove((place, known))  # those before it are asked once more

    def _leads_elsewhere(self, known: Remembered) -> bool:
        """Say whether a test is not worth asking."""
        return self._is_over or bool(self.left_out and self._involved.by(known.called) & self.left_out)

    def _asked(self, item: pytest.Item, group: Group, ends_at: float) -> tuple[list[Mark], Differs | None]:
        """Ask in a process that the first test of a group could have had.

        Return a mark for each test up to the first that is not answered as it was, and what is different there.
        """
        began = time.monotonic()
        connection = self._sharing.opened(criterion_of(item), ends_at, self._suite.is_hidden(item), own=False)
        found: list[Mark] = []
        differs: Differs | None = None
        try:
            for place, known in group if connection.failure is None else ():
                started = time.monotonic()
                ways = self._ways.setdefault(place, [likely(known.first)])
                deadline = min(ends_at, started + self._seconds)
                answered = asked_again(connection.channel, ways[-1], deadline, not found, MOST_AHEAD)
                if not isinstance(answered, Passed):
                    differs = answered
                    break
                found.append(Mark(time.monotonic() - started, UNTOLD))
        except Strayed as strayed:
            ways.append(strayed.way)
        self._left -= time.monotonic() - began
        self._is_over |= connection.failure is not None or self._left < 0
        is_whole = len(found) == len(group) and self._is_as_before(connection, ends_at)
        ended = self._process.done(connection, keep=is_whole)
        if len(found) == len(group) and (not is_whole or ended is not None or connection.failure is not None):
            self._is_over = True
            found = []
        return found, differs

    def _is_as_before(self, connection: Connection, ends_at: float) -> bool:
        """Say whether the tests that were asked about have left nothing behind in their process."""
        kept = Kept(0, connection.channel, 0)
        deadline = min(ends_at, time.monotonic() + SECONDS)
        return kept.ask(deadline) and kept.is_as_before(deadline)
