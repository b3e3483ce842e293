"""A second judge of one grading, where a core is idle: it goes through the tests from their end, with its own worker.

It is an aid and decides nothing: the first judge skips what has passed there, and runs itself what has not. Where a
test fails, the first also runs those that have passed and tell about the same functions: a cause is held against them.
Where a test passes in the first that failed in the second, the first runs all of them: nothing relies on such a module.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

from grader.errors import IsolationRefused
from grader.isolation.tiers import Own
from grader.isolation.workers import Worker, Workers
from grader.judging.assessment import Assessor
from grader.judging.judge import Charge
from grader.judging.processes.forked import Forked
from grader.judging.processes.marks import Mark, Marks
from grader.judging.processes.messages import Messages
from grader.judging.processes.slate import Slate
from grader.judging.processes.workers import Lending
from grader.judging.session import Session
from grader.judging.task import TESTS_AT_ONCE
from grader.remote.processes.process import LearnerProcess

if TYPE_CHECKING:
    from grader.judging.recall.memory import Book

FEWEST_TESTS = 24  # for which a second judge is worth its fork


@contextmanager
def beside(charge: Charge, own: Own | None, first: Lending, book: Book | None = None) -> Iterator[Charge]:
    """Give the charge of the first judge while a second one works from the other end, if own has workers for it.

    book is the second one's. first has the worker of the first judge. Where the second cannot be started, the first
    works alone.
    """
    count = len(charge.suite.chosen(charge.task.only, charge.task.first))
    if own is None or count < FEWEST_TESTS:
        yield charge if charge.book is None else replace(charge, marks=Marks(count))
        return
    marks = Marks(count)
    lending = Lending(own)
    second = Forked(lending)
    try:
        begun = _is_begun(second, lending, charge, marks, first, book)
        yield charge if not begun and charge.book is None else replace(charge, marks=marks, is_alone=not begun)
    finally:
        marks.stop()
        second.end(True)


def _is_begun(
    second: Forked, lending: Lending, charge: Charge, marks: Marks, first: Lending, book: Book | None
) -> bool:
    """Start the second judge; say whether that was possible."""
    try:
        others = lending.start().others()
        second.start(partial(_judge, charge, marks, others, first, book), charge.suite.stage.limits.judge_mb)
    except (IsolationRefused, OSError):
        return False
    return True


def _judge(
    charge: Charge, marks: Marks, others: int, first: Lending, book: Book | None, messages: Messages, workers: Workers
) -> None:
    """Load the module and run the tests from the last one on; whatever goes wrong is left to the first judge."""
    first.current.connection.close()  # this copy would keep the first judge's worker from noticing its end
    with suppress(Exception), charge.suite.in_place():
        process = LearnerProcess(charge.job, charge.tier, _TheOne(workers, others), charge.fork)
        assessor = Assessor(charge.suite.stage, charge.job, None)
        session = Session(charge.suite, charge.task, process, assessor, Slate(), marks)
        session.remember(book, False)
        process.load()
        session.giving.begin()
        _run(charge, session, marks)


def _run(charge: Charge, session: Session, marks: Marks) -> None:
    """Mark the tests that pass, from the last one on, until the first judge is met."""
    items = charge.suite.chosen(charge.task.only, charge.task.first)
    session.tells_calls = True
    last = len(items)
    while last > 0 and not _is_met(charge, marks, last - 1):
        places = range(max(0, last - TESTS_AT_ONCE), last)
        if session.recall is not None:
            session.recall.mark(items, places, charge.task.ends_at)
        for place in reversed(places):
            if marks.is_open(place):  # else it is known, or was to the first judge
                if _is_met(charge, marks, place):
                    return
                _judged(session, items, place, marks)
        last = places.start


def _is_met(charge: Charge, marks: Marks, place: int) -> bool:
    """Say whether the first judge has come to a test."""
    at = charge.slate.read()
    return marks.stopped or (at.test >= place and at.phase != "recalling")


def _judged(session: Session, items: list[pytest.Item], place: int, marks: Marks) -> None:
    """Run a test and mark how it ended."""
    following = items[place - 1] if session.recall is None else None  # the one before may be known to pass
    outcome = session.alone(items[place], following, place)
    if outcome.status == "passed" and not outcome.notes:  # of which only the first judge tells
        marks.passed(place, Mark(outcome.seconds, session.involved.by(outcome.called)))
    elif outcome.status == "failed":
        marks.failed(place)


class _TheOne:
    """The one worker of a judge that nobody listens to: where it ends, so does the judge."""

    def __init__(self, workers: Workers, others: int) -> None:
        self._workers = workers
        self._others = others
        self._is_given = False

    def start(self) -> Worker:
        if self._is_given:
            raise IsolationRefused("a second judge has one worker only")
        self._is_given = True
        given = self._workers.start()
        return _Unattended(given.connection, given, self._others)


@dataclass
class _Unattended:
    """A worker of which nothing can be asked that the process which started it would have to answer."""

    connection: socket.socket
    given: Worker
    counted: int  # of others, when it was started

    def running(self) -> bool:
        return self.given.running()

    def excess(self) -> str | None:
        return None

    def others(self) -> int:
        return self.counted

    def own(self) -> int:
        return 0

    def kill(self) -> None:
        self.connection.close()
