"""Runs one stage's tests within a judge: one connection to the learner's process a test, one outcome a test."""

from __future__ import annotations

import time
from collections.abc import Set
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from grader.judging.assessment import Assessor
from grader.judging.calls import Involved, Late, called, charged, times
from grader.judging.giving import Giving
from grader.judging.loops import LongLoops
from grader.judging.processes import bounds
from grader.judging.processes.marks import Mark, Marks
from grader.judging.processes.messages import Report, Untold
from grader.judging.processes.slate import Slate
from grader.judging.sharing import Sharing
from grader.judging.suite import Suite, criterion_of, kind_of, name_of
from grader.judging.task import EXPLAINED, TESTS_AT_ONCE, Task, expect_memory
from grader.outcome import Outcome
from grader.remote.heard import Heard
from grader.remote.processes.process import LearnerProcess

if TYPE_CHECKING:  # imported where something is remembered
    from grader.judging.recall.memory import Book
    from grader.judging.recall.recalling import Recall

BENCH_SECONDS = 4.0  # in which changed forms of a module may be tried; they are meant to take half a second of a core


class Session:
    """Judges the tests of one module."""

    def __init__(
        self, suite: Suite, task: Task, process: LearnerProcess, assessor: Assessor, slate: Slate,
        marks: Marks | None = None,
    ) -> None:  # fmt: skip
        self.suite = suite
        self.task = task
        self.process = process
        process.on_request = slate.call
        self.slate = slate
        self.marks = marks or Marks()  # of the tests that a second judge has seen pass, or that are known to
        self.slow_rows: set[str] = set()  # rows of which a test did not end in time: their others are left out
        self._assessor = assessor
        self._heard = Heard()
        self._late = Late(suite.stage, process.job.source)
        process.seconds_of = self._late.seconds
        self.involved = Involved(suite.stage, process.job.source)
        self.tells_calls = False  # of tests that pass, too
        self._items: list[pytest.Item] = []
        self._place = 0
        is_watched = bool(task.ahead) and suite.stage.feedback == "full"  # by a learner, from whom nothing is held back
        self._sharing = Sharing(process, assessor.explains and not is_watched)
        self.giving = Giving(suite, task, process, self._sharing)
        self._loops = LongLoops(suite.stage, task, process, self.giving)

    @property
    def recall(self) -> Recall | None:
        """What is remembered, where anything is."""
        return self.giving.recall

    def remember(self, book: Book | None, is_alone: bool) -> None:
        """Take part in what a grader remembers; is_alone says that no other judge works on the same tests."""
        if book is not None:
            from grader.judging.recall.recalling import Recall

            made = Recall(self.suite, self.process, self._sharing, self.involved, self.marks, book)
            made.is_alone, self.giving.recall = is_alone, made

    def doubt(self, items: list[pytest.Item], place: int) -> str | None:
        """Return why the reference does not pass a test; None where it does. Nothing of a learner's takes part."""
        self._place = place
        return self._with_reference(items[place])  # nothing is kept for a next test: which one that is, is open

    def run(self, items: list[pytest.Item], first: int, report: Report, done: Set[int] = frozenset()) -> None:
        """Judge the tests from the first on, then those before it, but for those that are done."""
        self._items = items
        places = [place for place in (*range(first, len(items)), *range(first)) if place not in done]
        outcomes: list[Outcome] = []
        known, waiting = dict[int, Mark](), list[int]()
        for part in self._parts(places):
            found, ran = self._known(part, report, outcomes)
            known |= found
            waiting += self._run([place for place in part if place not in {*found, *ran}], report, outcomes, True)
        waiting += known
        tells, recall = self.involved.telling(outcomes), self.recall  # held against a cause: run again

        def is_needed(place: int, bits: int) -> bool:
            return tells(criterion_of(items[place]), lambda: bits or (recall.involved(items[place]) if recall else 0))

        passed, again, left = self.marks.parted(waiting, is_needed)
        marks = {**passed, **again}.items()
        told = [self._passed(place, mark, Untold() if place in known else report) for place, mark in marks]
        outcomes += told[: len(passed)]
        self._run(left, report, outcomes, False)  # with these each test is told, and the verdict is clear
        self._run(list(again), report, outcomes, False)
        self._settle(outcomes, report)
        self._name_loops(report)

    def _parts(self, places: list[int]) -> list[list[int]]:
        """Return the tests of the rows that somebody waits for, then the public ones, then the hidden ones."""
        parts: list[list[int]] = [[], [], []]
        for place in places:
            is_ahead = criterion_of(self._items[place]) in self.task.ahead
            parts[0 if is_ahead else 1 + self.suite.is_hidden(self._items[place])].append(place)
        return parts

    def _known(self, places: list[int], report: Report, outcomes: list[Outcome]) -> tuple[dict[int, Mark], list[int]]:
        """Tell of the tests that are known to pass; return their marks by place, and the places of those that were run.

        One that is answered otherwise is run at once: if it fails, tests that lead to the functions of its row need not
        be asked. Where nobody begins at the other end, the last tests come first, since they lead to most others.
        """
        known: dict[int, Mark] = {}
        ran: list[int] = []
        recall = self.recall
        if recall is None:
            return known, ran
        order = places[::-1] if recall.is_alone else places
        for first in range(0, len(order), TESTS_AT_ONCE):
            some = order[first : first + TESTS_AT_ONCE]
            recall.leave_out(self.involved.failing(outcomes))
            self.slate.at("recalling", some[0])
            recall.mark(self._items, some, self.task.ends_at)
            marks = {place: mark for place in some if (mark := self.marks.of(place)) is not None}
            for place, mark in marks.items():
                self._passed(place, mark, report)
            known |= marks
            for place in some:
                if place not in marks and recall.differs(self._items[place]):
                    ran.append(place)
                    self._run([place], report, outcomes, False)
        return known, ran

    def _passed(self, place: int, mark: Mark, report: Report) -> Outcome:
        """Return the outcome of a test that has a mark, and tell it, unless that has been done."""
        outcome = replace(self.suite.unjudged(self._items[place]), status="passed", seconds=mark.seconds)
        report.send("outcome", place, outcome, False)
        return outcome

    def _run(self, places: list[int], report: Report, outcomes: list[Outcome], is_first: bool) -> list[int]:
        """Judge tests in turn; return those that wait, the first time: for one that is late, or as they have passed."""
        waiting: list[int] = []
        for place, then in zip(places, [*places[1:], None], strict=False):
            item, following = self._items[place], None if then is None else self._items[then]
            if is_first and (self.marks.of(place) or self._late.leads_here(criterion_of(item))):
                self.slate.at("test", place)
                # pytest takes down what the test before it had set up
                self.giving.attempted(item, following, "it waits")
                waiting.append(place)
                continue
            self._place = place
            bounds.bound_time(bounds.TEST_SECONDS)
            outcomes.append(self._judged(report, item, following))
            self.marks.compare(place, outcomes[-1].status)
            if self.task.hunt is not None and outcomes[-1].status != "passed":
                return []
        return waiting

    def alone(self, item: pytest.Item, following: pytest.Item | None, place: int) -> Outcome:
        """Judge one test of which nobody is told."""
        self._place = place
        bounds.bound_time(bounds.TEST_SECONDS)
        return self._judged(Untold(), item, following)

    def _judged(self, report: Report, item: pytest.Item, following: pytest.Item | None = None) -> Outcome:
        """Run one test and tell its outcome; then, in a second message, what explains it."""
        started = time.perf_counter()
        self.slate.at("test", self._place)
        base = self.suite.unjudged(item)
        if left_out := self._no_time_for(item):
            self.giving.attempted(item, following, left_out)  # pytest takes down what the test before it had set up
            if (mark := self.marks.of(self._place)) is not None:  # it was told to pass, and tells nothing more
                return self._passed(self._place, mark, Untold())
            outcome = replace(base, status="timed_out", message=left_out)
            report.send("outcome", self._place, outcome, False)
            return outcome
        attempt, ended = self._sharing.tried(lambda: self.giving.attempted(item, following))
        expect_memory(attempt.error)

        def reference() -> str | None:
            return self._with_reference(item, following)

        outcome = self._assessor.outcome(base, attempt, ended, reference)
        asked = called(self.suite.stage, attempt.connection) if outcome.status == "failed" or self.tells_calls else ()
        timed = times(self.suite.stage, self.task, self.process, outcome, attempt.connection)
        outcome = replace(outcome, seconds=time.perf_counter() - started, called=asked, calls=timed)
        is_late = self._late.note(outcome, attempt.connection)
        more = self._assessor.explains and outcome.status in EXPLAINED
        report.send("outcome", self._place, outcome, more)
        if outcome.status == "timed_out":
            self.slow_rows.add(charged(outcome.criterion, outcome.kind))
        if more:
            self.slate.at("explaining", self._place)
            bounds.bound_time(bounds.TEST_SECONDS)
            outcome = self._assessor.explained(outcome, attempt)
            report.send("explained", self._place, outcome)
        if attempt.connection is not None and self._assessor.explains:
            self._loops.note(item, outcome, attempt.connection, is_late)
            self._heard.keep(outcome, attempt.connection, attempt.asked, attempt.late)
        if self.recall is not None:
            self.recall.keep(outcome, attempt)
        return outcome

    def _with_reference(self, item: pytest.Item, following: pytest.Item | None = None) -> str | None:
        """Run a test with the reference in the learner's place; return its error where even that fails."""
        reference = self._assessor.reference
        if reference is None:
            return None
        self.slate.at("reference", self._place)
        bounds.bound_time(bounds.TEST_SECONDS)  # its own: what the learner's values took leaves it no less
        attempt = self.giving.attempted_with(reference, item, following)
        expect_memory(attempt.error)  # values of the learner's may still be held; a judge without them tries again
        return attempt.fault()

    def _settle(self, outcomes: list[Outcome], report: Report) -> None:
        """Tell which explanations stand against everything that the tests saw."""
        if not self._heard.is_asked:
            return
        from grader.diagnosis.repairs.bench import RemoteBench

        self.slate.at("settling", self._place)
        bounds.bound_time(bounds.TEST_SECONDS)
        ends_at, bench = min(self.task.ends_at, time.monotonic() + BENCH_SECONDS), None
        if self.process.fork:  # elsewhere tests share a process, so that no changed form can run in one of its own
            bench = RemoteBench(lambda: self.process.open("", ends_at), self.process.done, ends_at, self._passes)
        try:
            settled = self._assessor.settled(outcomes, self._heard, bench)
        finally:
            if bench is not None:
                bench.close()
        for before, after in zip(outcomes, settled, strict=True):
            if before.explains != after.explains:
                report.send("settled", after)

    def _name_loops(self, report: Report) -> None:
        """Tell which loops the calls that did not return in time were in."""
        self.slate.at("settling", self._place)
        bounds.bound_time(bounds.TEST_SECONDS)
        for outcome in self._loops.explained():
            report.send("settled", outcome)

    def _passes(self, test: str, learner: Any, again: int = 0) -> bool:
        """Say whether a test passes with another module in the learner's place; no outcome comes of it.

        again is how many seeds further on its inputs are drawn.
        """
        item = next((each for each in self._items if name_of(each) == test), None)
        return item is not None and self.giving.attempted_with(learner, item, None, again).fault() is None

    def _no_time_for(self, item: pytest.Item) -> str:
        """Return why a test is left out; empty where it is run. A hanging function costs its row one wait, not six."""
        if time.monotonic() >= self.task.ends_at:
            return f"the stage's {self.suite.stage.limits.stage_seconds:g} s were used up before this test"
        if self.slow_rows & {criterion_of(item), charged(criterion_of(item), kind_of(item))}:
            return "skipped: an earlier test of this row timed out"
        return ""
