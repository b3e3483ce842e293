"""Runs a stage's tests on the course's own modules and their changed forms, within a judge or through a worker."""

from __future__ import annotations

import marshal
import os
import select
import signal
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pytest

from grader import __version__
from grader.course.answers import module_from
from grader.isolation import tiers
from grader.isolation.tiers import LocalWorkerFactory
from grader.isolation.workers import Workers
from grader.judging import bounds, plugin
from grader.judging.grading import Grader, Options
from grader.judging.judge_process import Bounds, bounded
from grader.judging.outcomes import Assessor
from grader.judging.pytest_suite import Suite, criterion_of, kind_of, name_of
from grader.judging.running import Attempt, is_plain, run_phases
from grader.judging.session import Session
from grader.judging.task import JudgeTask, Messages, SharedStatus, records, unpacked
from grader.outcome import Call, Diagnosis, Gradient, Outcome, Status, Where
from grader.sandbox.process import LearnerProcess
from grader.submission import Snapshot
from grader.verdict import Run, Verdict, decide
from grader.worker import kernel

RECORDS = records([Call, Diagnosis, Gradient, Outcome, Where])  # in which a judge tells what came of tests


@dataclass(frozen=True)
class ChangedForm:
    """A changed form of a module: its text, and the tests that may tell it from the module, in the order to try them.

    Without tests all are tried, in the order of the suite.
    """

    source: str
    tests: tuple[str, ...] | None = None


def chosen(items: Sequence[pytest.Item], tests: tuple[str, ...] | None) -> list[pytest.Item]:
    """Return the tests of these names in their order; all where none are named."""
    if tests is None:
        return list(items)
    known = {name_of(item): item for item in items}
    return [known[name] for name in tests if name in known]


NAME = "provided"  # of the module while its tests run
Loading = Callable[[], AbstractContextManager[None]]


class TrustedProvider:
    """Gives each test a module of its own, made of one text."""

    def __init__(self, source: str, seed: int, loading: Callable[[], AbstractContextManager[None]]) -> None:
        self.seed = seed
        self.file = f"<{NAME}>"
        self._code = compile(source, self.file, "exec", dont_inherit=True)
        self._loading = loading

    def learner(self, item: pytest.Item) -> types.ModuleType:
        """Return a module of this test's own; it is loaded within what `loading` gives."""
        del item
        with self._loading():
            return module_from(self._code, NAME)

    def attempt(self, item: pytest.Item, following: pytest.Item | None = None) -> Attempt:
        """Run a test, and return what came of it; one that is not plain is not run, and so has not passed."""
        attempt = Attempt(item)
        if is_plain(item):
            run_phases(item, following, attempt)
        return attempt


@contextmanager
def provided(suite: Suite, source: str, seed: int, loading: Loading = nullcontext) -> Iterator[TrustedProvider]:
    """Have the suite's tests, which are in place, get the module while the block lasts; SyntaxError if it is none."""
    provider = TrustedProvider(source, seed, loading)
    suite.config.stash[plugin.PROVIDER] = provider
    try:
        yield provider
    finally:
        suite.take_down()
        del suite.config.stash[plugin.PROVIDER]


TRACING_PATIENCE = 4.0  # noting lines takes time of its own


@dataclass(frozen=True)
class LinesReached:
    """A test, its criterion, the lines of the module that it runs, and its seconds.

    lines is None where that cannot be told: then a change in any line may matter to it.
    """

    test: str
    criterion: str
    lines: frozenset[int] | None
    seconds: float

    def runs(self, span: tuple[int, int] | None) -> bool:
        """Say whether it may run any of these lines, the first to the last; without any, whether it may tell at all.

        >>> LinesReached("test_a.py::test_b", "total", frozenset({3, 4}), 0.1).runs((4, 9))
        True
        """
        if self.lines is None or span is None:
            return True
        return any(span[0] <= line <= span[1] for line in self.lines)


def reached(suite: Suite, source: str, seed: int, own: LocalWorkerFactory) -> tuple[LinesReached, ...]:
    """Return what each test of a suite runs of a right module's text, as far as it could be seen.

    A test that is not among them may run any line.
    """
    limits = suite.stage.limits
    most = Bounds(limits.judge_mb + limits.memory_mb, TRACING_PATIENCE * limits.stage_seconds)
    told = bounded(partial(_trace, suite, source, seed), own, most).told
    return tuple(
        LinesReached(test, criterion, None if lines is None else frozenset(lines), seconds)
        for kind, test, criterion, lines, seconds in told
        if kind == "reached"
    )


def _trace(suite: Suite, source: str, seed: int, messages: Messages, workers: Workers, shared: SharedStatus) -> None:
    del workers, shared  # the module is the course's own: it runs here
    bounds.bound_time(TRACING_PATIENCE * suite.stage.limits.stage_seconds)
    with suite.in_place(), provided(suite, source, seed, partial(_tracing, None)) as provider:
        for item in suite.items:
            lines, seconds = _noted(provider, item)
            plain = None if lines is None else sorted(lines)
            messages.send("reached", name_of(item), criterion_of(item), plain, seconds)


def _noted(provider: TrustedProvider, item: pytest.Item) -> tuple[set[int] | None, float]:
    """Return the lines that a test runs, None where it does not come to its end, and its seconds."""
    lines, started = set[int](), time.perf_counter()
    with _tracing(_noting(provider.file, lines)):
        passed = provider.attempt(item).passed()
    seconds = time.perf_counter() - started
    return (lines if passed else None), seconds


Tracer = Callable[[types.FrameType, str, Any], Any]


def _noting(file: str, lines: set[int]) -> Tracer:
    def line(frame: types.FrameType, event: str, _: Any) -> Any:
        lines.add(frame.f_lineno)
        return line

    def entered(frame: types.FrameType, event: str, _: Any) -> Any:
        return line if frame.f_code.co_filename == file else None

    return entered


@contextmanager
def _tracing(tracer: Tracer | None) -> Iterator[None]:
    """Trace this thread, and those that begin meanwhile; what was traced before is traced again afterwards."""
    before, others = sys.gettrace(), threading.gettrace()
    sys.settrace(tracer)
    threading.settrace(tracer)
    try:
        yield
    finally:
        sys.settrace(before)
        threading.settrace(others)


WAITING_PATIENCE = 4.0  # times as many seconds of the clock as of the processor, for a form that waits for something
TEXT_LIMIT = 500


def caught(
    suite: Suite, mutants: Sequence[ChangedForm], seed: int, seconds: float, own: LocalWorkerFactory
) -> list[Outcome | None]:
    """Return the first test that each changed form does not pass here, None where nothing can be said of it.

    seconds of the processor are what a test may take. A form that passes here may still fail through a worker.
    """
    limits = suite.stage.limits
    most = Bounds(limits.judge_mb + limits.memory_mb, (WAITING_PATIENCE + 1) * limits.stage_seconds * len(mutants))
    told = bounded(partial(_caught, suite, mutants, seed, seconds), own, most).told
    found: dict[int, Outcome] = {number: unpacked(outcome, RECORDS) for _, number, outcome in told}
    return [found.get(number) for number in range(len(mutants))]


def outcomes(suite: Suite, source: str, seed: int, own: LocalWorkerFactory) -> tuple[Outcome, ...] | None:
    """Return what came of each test of a module that is meant to be right; None where one cannot be run here."""
    if not all(map(is_plain, suite.items)):
        return None
    limits = suite.stage.limits
    most = Bounds(limits.judge_mb + limits.memory_mb, limits.stage_seconds)
    told = bounded(partial(_judged, suite, source, seed), own, most).told
    return tuple(unpacked(outcome, RECORDS) for _, outcome in told)


def _judged(suite: Suite, source: str, seed: int, messages: Messages, workers: Workers, shared: SharedStatus) -> None:
    del workers, shared  # the module is the course's own: it runs here
    bounds.bound_time(suite.stage.limits.stage_seconds)
    with suite.in_place(), provided(suite, source, seed) as provider:
        for item, following in zip(suite.items, [*suite.items[1:], None], strict=True):
            messages.send("outcome", _outcome(suite, item, provider.attempt(item, following)))


def _outcome(suite: Suite, item: pytest.Item, attempt: Attempt) -> Outcome:
    said = "" if attempt.passed() else f"{type(attempt.error).__name__}: {attempt.error}"[:TEXT_LIMIT]
    status: Status = "passed" if attempt.passed() else "failed"
    return Outcome(name_of(item), criterion_of(item), suite.is_hidden(item), status, said, kind=kind_of(item))


def _caught(
    suite: Suite,
    mutants: Sequence[ChangedForm],
    seed: int,
    seconds: float,
    messages: Messages,
    workers: Workers,
    shared: SharedStatus,
) -> None:
    del workers, shared
    bounds.bound_time(0)
    with suite.in_place():
        for number, mutant in enumerate(mutants):

            def tell(outcome: Outcome, number: int = number) -> None:
                messages.send("outcome", number, outcome)

            items = [item for item in chosen(suite.items, mutant.tests) if is_plain(item)]
            patience = WAITING_PATIENCE * seconds * len(items)
            if not _in_a_fork(partial(_first, suite, mutant.source, items, seed, seconds), tell, patience):
                late = f"a test took more than {seconds:g} s of processor time"
                tell(Outcome("the run", "", False, "timed_out", late))


def _in_a_fork(first: Callable[[], Outcome | None], tell: Callable[[Outcome], None], patience: float) -> bool:
    """Have a fork of the judge tell the first test that a form does not pass; say whether its time was enough.

    patience are seconds of the clock, after which nothing can be said of a form that waits for something.
    """
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            with suppress(kernel.Unconfined):
                kernel.end_with_parent()
            outcome = first()
            bounds.bound_time(0)
            if outcome is not None:
                tell(outcome)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb"):
        ended, _, _ = select.select([reader], [], [], patience)
        if not ended:
            os.kill(process, signal.SIGKILL)
    return bounds.why_ended(os.waitpid(process, 0)[1]) is None


def _first(suite: Suite, source: str, items: Sequence[pytest.Item], seed: int, seconds: float) -> Outcome | None:
    """Return the first of these tests that a module does not pass."""
    bounds.bound_time(seconds)
    with provided(suite, source, seed) as provider:
        for item in items:
            bounds.bound_time(seconds)
            attempt = provider.attempt(item)
            if not attempt.passed():
                return _outcome(suite, item, attempt)
    return None


def caught_through_worker(
    task: JudgeTask, mutants: Sequence[ChangedForm], own: LocalWorkerFactory
) -> list[Outcome | None]:
    """Return the first test that each form does not pass, None where it passes all, as far as one judge comes.

    A form that ends the judge ends the list: what comes of that one and of those behind it is not known.
    """
    limits = task.suite.stage.limits
    seconds = limits.stage_seconds * len(mutants)
    told = bounded(partial(_run_all, task, mutants), own, Bounds(limits.judge_mb, seconds)).told
    return [unpacked(outcome, RECORDS) for kind, outcome in told if kind == "caught"]


def _run_all(
    task: JudgeTask, mutants: Sequence[ChangedForm], messages: Messages, workers: Workers, shared: SharedStatus
) -> None:
    """Load the module, then run the tests on one form after another, and tell what came of each."""
    process = LearnerProcess(task.job, task.tier, workers, task.options.fork)
    try:
        with task.suite.in_place(), suppress(Exception):  # of a form that then runs alone, where it is told
            process.load()
            for mutant in mutants:
                messages.send("caught", _caught_through_worker(task, mutant, process, shared))
    finally:
        bounds.bound_time(0)
        process.kill()


def _caught_through_worker(
    task: JudgeTask, mutant: ChangedForm, process: LearnerProcess, shared: SharedStatus
) -> Outcome | None:
    """Return the first of the mutant's tests that it does not pass; it may take as long as a grading."""
    suite = task.suite
    process.form = marshal.dumps(compile(mutant.source, process.job.label, "exec", dont_inherit=True))
    task = replace(task, shared=shared, answers=None, ends_at=time.monotonic() + suite.stage.limits.stage_seconds)
    session = Session(task, process, Assessor(suite.stage, task.job, None))
    session.provider.begin()
    try:
        return session.first_failure(chosen(suite.items, mutant.tests))
    finally:
        session.provider.end()
        suite.take_down()


class MutantRunner(Grader):
    """Runs a stage's tests on changed forms of a module that is known to be right."""

    def first_failures(
        self, snapshot: Snapshot, options: Options, mutants: Sequence[ChangedForm]
    ) -> list[Outcome | None]:
        """Return the first test that each changed form of a snapshot does not pass; None where it passes all.

        One judge goes through them, with a worker that loads the snapshot once. A form that ends the judge runs
        alone, as every form is where no judge can be forked: by its text, and with every test.
        """
        found: list[Outcome | None] = []
        while len(found) < len(mutants):
            if options.fork:
                task = self._task(snapshot, options, tiers.choose(options.isolation)[0], ())
                own = self.workers(task.tier)
                found += [] if task.suite.faults else caught_through_worker(task, mutants[len(found) :], own)
            if len(found) < len(mutants):
                source = mutants[len(found)].source.encode()
                found.append(self.first_failure(replace(snapshot, source=source), options, ()))
        return found

    def caught(self, mutants: Sequence[ChangedForm], seed: int, seconds: float) -> list[Outcome | None]:
        """Return the first test that each changed form does not pass in the judge itself, None where that is open.

        A test may take so many seconds of the processor. The forms are changes of the course's own text: they run
        without isolation. All are open where no judge can be forked.
        """
        if not tiers.FORKS or self._loaded().faults:
            return [None] * len(mutants)
        with self._own_judge() as own:
            return caught(self._loaded(), mutants, seed, seconds, own)

    def trusted(self, snapshot: Snapshot, seed: int) -> tuple[Verdict, tuple[Outcome, ...]] | None:
        """Return the verdict on a module of the course's own, and the outcome of each test, run in the judge itself.

        None where that cannot be told: no judge can be forked, or a test ends in a way that pytest has to report.
        """
        suite, started = self._loaded(), time.monotonic()
        if not tiers.FORKS or suite.faults:
            return None
        with self._own_judge() as own:
            found = outcomes(suite, snapshot.source.decode(), seed, own)
        if found is None:
            return None
        seconds = time.monotonic() - started
        run = Run(seed, "none", None, seconds, __version__, snapshot.whole, snapshot.label)
        return decide(self.stage, suite.expected, found, run), found

    @contextmanager
    def _own_judge(self) -> Iterator[tiers.LocalWorkerFactory]:
        """Give what lends a judge its worker; these judges use none."""
        own = tiers.LocalWorkerFactory("process", self.course.root, packages=self.stage.packages)
        try:
            yield own
        finally:
            own.close()

    def reached(self, source: str, seed: int) -> tuple[LinesReached, ...]:
        """Return which lines of a right module's text each test runs, as far as it could be seen."""
        with self._own_judge() as own:
            return reached(self._loaded(), source, seed, own)
