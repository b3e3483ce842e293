"""Judges one module: its public tests, then the hidden ones, and last what explains their failures."""

from __future__ import annotations

import time
from collections.abc import Iterator, Set
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from grader.course.stage import public_names
from grader.diagnosis.calls import definition_lines
from grader.errors import CourseError
from grader.isolation.workers import Workers
from grader.judging import bounds
from grader.judging.judge_process import tell_the_end
from grader.judging.outcomes import Assessor, Late, called, charged, times
from grader.judging.pytest_suite import criterion_of, kind_of, name_of
from grader.judging.running import Attempt, LearnerProvider, Ran, TestRunner
from grader.judging.task import (
    EXPLAINED,
    POOL_CALL_SECONDS,
    SEARCH_SECONDS,
    JudgeTask,
    Messages,
    Untold,
    expect_memory,
)
from grader.outcome import Diagnosis, Outcome
from grader.sandbox.connection import STEPS, Connection, Ended, Passed, RemoteModule, RequestLog
from grader.sandbox.limits import STAGE_OVER
from grader.sandbox.process import LearnerProcess, LoadFailed
from grader.sandbox.recorded import MOST_BYTES, Answers
from grader.submission.loops import Loop, Loops, Span
from grader.submission.source import helpers, plain_text, reaches

if TYPE_CHECKING:  # what explains is imported when something fails
    from grader.diagnosis.pool import Pool


LONG_LOOP, SLEEP = "long-loop", "sleeps"
FAR_SECONDS = 10.0  # after which a call is given up whose lines take long: 50 microseconds for each


@dataclass(frozen=True)
class Hung:
    """A test whose call did not return in time: its outcome, the call's label, and how many requests came before."""

    item: pytest.Item
    outcome: Outcome
    label: str
    before: int


class LongLoops:
    """The calls of one run that did not return in time, one of each function, and the loops that they were in."""

    def __init__(self, task: JudgeTask, process: LearnerProcess, provider: LearnerProvider) -> None:
        self._stage = task.suite.stage
        self._task = task
        self._process = process
        self._provider = provider
        self._hung: dict[str, Hung] = {}

    def note(self, item: pytest.Item, outcome: Outcome, connection: Connection, is_whole: bool) -> None:
        """Remember the call that a test waited for in vain: one of a function, if possible in a test of its criterion.

        is_whole says that it took all of its time: one that did not leads to another that did.
        """
        label = connection.late
        places = [place for place, record in enumerate(connection.records) if record.failed]
        known = self._hung.get(label)
        is_better = known is not None and self._is_own(label, outcome) > self._is_own(label, known.outcome)
        if places and label and (is_better or (is_whole and known is None)):
            self._hung[label] = Hung(item, outcome, label, places[-1])

    def _is_own(self, label: str, outcome: Outcome) -> bool:
        names = {label, label.partition(".")[0]}
        return not names.isdisjoint(self._stage.criterion(outcome.criterion).functions)

    def explained(self) -> Iterator[Outcome]:
        """Yield the outcomes of the tests whose loop can be named, with it as their cause: each loop once.

        Of calls that were in one loop, that of the function which holds it is told.
        """
        text = plain_text(self._process.job.source) if self._hung else None
        if text is None:
            return
        loops, found = Loops(text), dict[int, tuple[str, Loop, Hung]]()
        for each in self._hung.values():
            if time.monotonic() >= self._task.ends_at:
                break
            id, loop = LONG_LOOP, loops.of(self._spans(each))
            if loop is None:
                id, loop = SLEEP, loops.sleep(self._run_by(each.label, text))
            if loop is not None and (loop.line not in found or each.label == self._holder(loop.line)):
                found[loop.line] = id, loop, each
        for id, loop, each in found.values():
            yield self._with(id, loop, each)

    def _run_by(self, label: str, text: str) -> set[str]:
        """Return the names of the functions and methods that a call may run, by the module's text."""
        labels = {label} | {name for find in (reaches, helpers) for name in find(self._stage, text).get(label, ())}
        return {each.rpartition(".")[2] for each in labels}

    def _spans(self, hung: Hung) -> tuple[Span, ...]:
        """Make the call once more, and return which lines ran at the end of its budget; none where steps are left."""
        ends_at = min(self._task.ends_at, time.monotonic() + FAR_SECONDS)
        with suppress(Exception):  # what explains is an aid: the process may not start, or not load the module again
            connection = self._process.open(ends_at)
            connection.count_steps(hung.before, hung.label, FAR_SECONDS)
            module = RemoteModule(connection, self._process.job.label, public_names(self._stage))
            try:
                self._provider.attempted_with(module, hung.item, None)
            finally:
                self._process.done(connection)
            return connection.spans
        return ()

    def _with(self, id: str, loop: Loop, hung: Hung) -> Outcome:
        said = f"{hung.label} was still in the loop of line {loop.line} after {STEPS:,} steps: `{loop.header}`."
        if id == SLEEP:
            said = f"{hung.label} did not return in time; line {loop.line} waits: `{loop.header}`."
        holder = self._holder(loop.line)
        own = self._stage.criterion_of(holder)
        criterion = own.id if own is not None else hung.outcome.criterion
        cause = Diagnosis(id, criterion, said, loop.advice, function=holder or hung.label, line=loop.line)
        return replace(hung.outcome, explains=(cause,), where=self._process.job.place(loop.line))

    def _holder(self, line: int) -> str:
        begun = {at: name for name, at in definition_lines(self._process.job.source).items() if at <= line}
        return begun[max(begun)] if begun else ""


NOBODYS = "nobody's module"  # what a module of a pool is loaded beside: a text without a line


class Session:
    """Judges the tests of one module."""

    def __init__(
        self, task: JudgeTask, process: LearnerProcess, assessor: Assessor, workers: Workers | None = None
    ) -> None:
        self.suite = suite = task.suite
        self.task = task
        self.process = process
        self._workers = workers  # where those of a pool's modules come from
        process.on_request = task.shared.call
        self.shared = task.shared
        # For each the place of a test that was late: later ones are left out.
        self.slow_criteria = dict.fromkeys(task.slow_criteria, -1)
        self.provider = LearnerProvider(suite, task, process)
        self._assessor = assessor
        self._heard = RequestLog()
        self._late = Late(suite.stage, process.job.source)
        process.seconds_of = self._late.seconds
        self._loops = LongLoops(task, process, self.provider)
        self._runner = TestRunner(process, self.provider, task.shared, task.plan, self._no_time_for)
        self._items: list[pytest.Item] = []
        self._place = 0
        self._outcomes: dict[int, Outcome] = {}
        self._left = MOST_BYTES  # of answers that are kept
        self._answers: dict[int, Answers] = {}  # of tests that passed without being run

    def doubt(self, items: list[pytest.Item], place: int) -> str | None:
        """Return why the reference does not pass a test; None where it does. Nothing of a learner's takes part."""
        self._place = place
        self._items = items
        return self._with_reference(place)  # nothing is kept for a next test: which one that is, is open

    def run(self, items: list[pytest.Item], report: Messages, done: Set[int] = frozenset()) -> None:
        """Judge the tests but for those that are done, then tell what explains their failures."""
        self._items = self._runner.items = items
        criteria = [criterion_of(item) for item in items]
        for places in self._groups([place for place in range(len(items)) if place not in done]):
            own = {place for place, criterion in enumerate(criteria) if criterion == self.task.options.only}
            needed = self.task.needed(criteria, self._outcomes) if done.isdisjoint(own) else places
            if not set(needed) & set(places):
                break
            for ran in self._runner.run(places, report.flush):
                self._take(ran, report)
        if self._assessor.explains and any(each.status in EXPLAINED for each in self._outcomes.values()):
            self._keep_unrun()
        report.send("strayed", [name_of(items[place]) for place in sorted(self._runner.strayed)])
        self._settle(report)
        self._name_loops(report)

    def first_failure(self, items: list[pytest.Item], report: Messages | None = None) -> Outcome | None:
        """Run tests in their order up to the first that does not pass, and return what came of it."""
        self._items = self._runner.items = items
        report = report or Untold()
        with closing(self._runner.run(range(len(items)), report.flush)) as running:
            outcomes = (self._take(ran, report) for ran in running)
            return next((outcome for outcome in outcomes if outcome.status != "passed"), None)

    def _groups(self, places: list[int]) -> list[list[int]]:
        """Return the public tests and the hidden ones, first those of the criteria that somebody waits for.

        What a public test shows is told in full, and less of a hidden one: no process of a public test comes after one
        of a hidden test, unless all is told anyway.
        """
        first = self.task.criteria_first if self.suite.stage.feedback == "full" else ()
        groups: dict[tuple[bool, bool], list[int]] = {}
        for place in places:
            key = criterion_of(self._items[place]) not in first, self.suite.is_hidden(self._items[place])
            groups.setdefault(key, []).append(place)
        return [groups[key] for key in sorted(groups)]

    def _take(self, ran: Ran, report: Messages) -> Outcome:
        """Tell what came of a test; then, in a second message, what explains it."""
        self._place = ran.place
        if ran.attempt is not None:
            self._answers.pop(ran.place, None)  # what it was answered beside others counts no more
        base = self.suite.unjudged(self._items[ran.place])
        if left_out := ran.left_out or self._is_of_slow_criterion(ran.place):
            outcome = self._untried(ran.place, left_out, report)
        elif ran.attempt is not None:
            outcome = self._taken(base, ran, ran.attempt, report)
        else:
            assert ran.answers is not None
            outcome = replace(base, status="passed", seconds=ran.answers.seconds)
            self._left -= ran.answers.size
            if self._left >= 0:
                self._answers[ran.place] = ran.answers
            report.hold("passed", ran.place, outcome.seconds)
        self._outcomes[ran.place] = outcome
        if outcome.status == "timed_out" and not left_out:
            self._leave_out_later(ran.place, outcome, report)
        return outcome

    def _untried(self, place: int, why: str, report: Messages) -> Outcome:
        outcome = replace(self.suite.unjudged(self._items[place]), status="timed_out", message=why)
        report.send("outcome", place, outcome, False)
        return outcome

    def _leave_out_later(self, place: int, outcome: Outcome, report: Messages) -> None:
        """Leave out the later tests of the criterion of one that did not end in time, also those that have ended."""
        criterion = charged(outcome.criterion, outcome.kind)
        self.slow_criteria[criterion] = min(place, self.slow_criteria.get(criterion, place))
        for later, known in self._outcomes.items():
            if known.status != "timed_out" and (left_out := self._is_of_slow_criterion(later)):
                self._outcomes[later] = self._untried(later, left_out, report)

    def _taken(self, base: Outcome, ran: Ran, attempt: Attempt, report: Messages) -> Outcome:
        expect_memory(attempt.error)
        with_reference = partial(self._with_reference, ran.place, ran.following)
        outcome = self._assessor.outcome(base, attempt, ran.ended, with_reference)
        connection = attempt.connection
        asked = called(self.suite.stage, connection) if outcome.status == "failed" else ()
        timed = times(self.suite.stage, self.task, self.process, outcome, connection)
        outcome = replace(outcome, seconds=attempt.seconds, called=asked, calls=timed)
        is_late = self._late.note(outcome, connection)
        more = self._assessor.explains and outcome.status in EXPLAINED
        report.send("outcome", ran.place, outcome, more)
        if more:
            self.shared.at("explaining", ran.place)
            bounds.bound_time(bounds.TEST_SECONDS)
            outcome = self._assessor.explained(outcome, attempt)
            report.send("explained", ran.place, outcome)
        if connection is not None and self._assessor.explains:
            self._loops.note(self._items[ran.place], outcome, connection, is_late)
            self._heard.keep(outcome, connection)
        digest = None if ran.answers is None else ran.answers.digest
        if outcome.status == "passed" and not outcome.notes and digest is not None:
            report.send("passing", outcome.test, digest)
        return outcome

    def _with_reference(self, place: int, following: pytest.Item | None = None) -> str | None:
        """Run a test with the reference in the learner's place; return its error where even that fails.

        A test that was planned has passed so with this seed.
        """
        reference, item = self._assessor.reference, self._items[place]
        if reference is None or name_of(item) in (self.task.plan or ()):
            return None
        self.shared.at("reference", self._place)
        bounds.bound_time(bounds.TEST_SECONDS)  # its own: what the learner's values took leaves it no less
        attempt = self.provider.attempted_with(reference, item, following)
        expect_memory(attempt.error)  # values of the learner's may still be held; a judge without them tries again
        return attempt.fault()

    def _keep_unrun(self) -> None:
        """Keep the tests that passed without being run as evidence: each is run when it is needed."""
        for place, answers in self._answers.items():
            planned = self._runner.planned(place)
            if planned.size:
                known = frozenset(planned.calls), planned.size, partial(self._ended, place, answers)
                self._heard.passed.append(Passed(self._outcomes[place], *known, planned.is_usual(answers.digest)))

    def _ended(self, place: int, answers: Answers) -> Ended | None:
        """Run a test against answers that are known to pass it, and return what it asked and was answered."""
        attempt = self._runner.again(place, answers)
        if attempt is None or not attempt.passed() or attempt.connection is None:
            return None
        return Ended(self._outcomes[place], attempt.connection.records, attempt.connection.names)

    def _settle(self, report: Messages) -> None:
        """Tell the causes of the failures."""
        if not self._heard.failed:
            return
        from grader.diagnosis.runner import MOST_PROCESSOR_SECONDS, RemoteRunner

        report.send("settling")
        self.shared.at("settling", self._place)
        bounds.bound_time(MOST_PROCESSOR_SECONDS + bounds.TEST_SECONDS)  # the last operation has its time
        ends_at, runner = time.monotonic() + SEARCH_SECONDS, None
        if self.process.fork and self.task.searches:  # where nothing forks, no changed form has a process of its own
            runner = RemoteRunner(partial(self.process.open, ends_at), self.process.done, ends_at, self._passes)
        order = {name_of(item): place for place, item in enumerate(self.suite.items)}  # whatever ran first
        self._heard.sort(order)
        outcomes = sorted(self._outcomes.values(), key=lambda each: order[each.test])
        with ExitStack() as stack:
            if runner is not None:
                stack.callback(runner.close)
            options = self.task.options
            asked = (*options.asked, *filter(None, (options.only,)))
            pool = self._pool(ends_at, stack) if runner is not None and options.pool else None
            start = None if runner is None else partial(self._opened_in, stack, ends_at)
            settled = self._assessor.settled(outcomes, self._heard, runner, asked, pool, start)
        for before, after in zip(outcomes, settled, strict=True):
            if before != after:
                report.send("settled", after)

    def _opened_in(self, stack: ExitStack, ends_at: float) -> Connection:
        """Return a connection to a process of the module that ends with the stack."""
        connection = self.process.open(ends_at)
        stack.callback(self.process.done, connection)
        return connection

    def _pool(self, ends_at: float, stack: ExitStack) -> Pool:
        """Return the modules of a pool; each that is run has a worker of its own, which ends with the stack."""
        from grader.diagnosis.pool import Pool
        from grader.diagnosis.runner import RemoteRunner

        def start() -> RemoteRunner:
            assert self._workers is not None
            job = replace(self.task.job, label=NOBODYS, source=b"", call_seconds=POOL_CALL_SECONDS)
            process = LearnerProcess(job, self.task.tier, self._workers.beside(), self.process.fork)
            stack.callback(process.kill)
            process.load()
            return RemoteRunner(
                partial(process.open, ends_at), process.done, ends_at, lambda *_: False, POOL_CALL_SECONDS
            )

        return Pool(self.task.options.pool, start)

    def _name_loops(self, report: Messages) -> None:
        """Tell which loops the calls that did not return in time were in."""
        self.shared.at("settling", self._place)
        bounds.bound_time(bounds.TEST_SECONDS)
        for outcome in self._loops.explained():
            report.send("settled", outcome)

    def _passes(self, test: str, learner: Any, again: int = 0) -> bool:
        """Say whether a test passes with another module in the learner's place; no outcome comes of it.

        again is how many seeds further on its inputs are drawn.
        """
        item = next((each for each in self._items if name_of(each) == test), None)
        return item is not None and self.provider.attempted_with(learner, item, None, again).fault() is None

    def _no_time_for(self, place: int) -> str:
        """Return why a test is left out; empty where it is run."""
        if time.monotonic() >= self.task.ends_at:
            return f"{STAGE_OVER} before this test"
        return self._is_of_slow_criterion(place)

    def _is_of_slow_criterion(self, place: int) -> str:
        """Return what is told of a test of a criterion that has timed out before: it costs one wait, not six."""
        if not self.slow_criteria:
            return ""
        item = self._items[place]
        criteria = {criterion_of(item), charged(criterion_of(item), kind_of(item))}
        is_late = any(place > self.slow_criteria.get(criterion, place) for criterion in criteria)
        return "skipped: an earlier test of this criterion timed out" if is_late else ""


def judge(task: JudgeTask, messages: Messages, workers: Workers) -> None:
    """Load the module, run the tests from the first on, and tell what came of each."""
    process = LearnerProcess(task.job, task.tier, workers, task.options.fork)
    try:
        tell_the_end(partial(_judge, task, process, messages, workers), messages)
    finally:
        bounds.bound_time(0)
        with suppress(OSError):
            process.kill()


def _judge(task: JudgeTask, process: LearnerProcess, messages: Messages, workers: Workers) -> None:
    try:
        session = Session(task, process, Assessor(task.suite.stage, task.job, task.answers), workers)
        with task.suite.in_place():
            _hear(task, session, messages)
    except LoadFailed as failed:
        messages.send("problem", failed.problem)
    except CourseError as error:  # the answers of the course cannot be read
        messages.send("course", error.message)


def _hear(task: JudgeTask, session: Session, messages: Messages) -> None:
    """Settle the doubt about a test, before anything of the learner's is here; then load the module and judge it."""
    items = task.suite.in_order(task.criteria_first)
    session.provider.begin()
    try:
        first = task.first
        if task.doubted:
            messages.send("reference", first, session.doubt(items, first))
            first += 1
        task.shared.at("loading", first)
        bounds.bound_time(bounds.TEST_SECONDS)
        session.process.load()
        wanted = {name for criterion in task.suite.stage.criteria for name in criterion.functions}
        messages.send("loaded", sorted(wanted & set(session.process.names)))
        if task.first_failure is not None:
            session.first_failure(items, messages)
            return
        session.run(items, messages, task.done | ({task.first} if task.doubted else set()))
    finally:
        session.provider.end()
