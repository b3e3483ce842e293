"""Runs the tests of a suite against a learner's processes: each test's attempt, whichever way its questions are asked.

With a plan the questions of many tests are asked before the tests run. A test that asks something else runs once more,
and asks as it runs; so does each test without a plan. Tests follow one another in one process. Where something is left
behind there, each test is run again in a process of its own, and that alone counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeGuard

import pytest

from grader.course.stage import public_names
from grader.judging import bounds, plugin
from grader.judging.pytest_suite import Suite, criterion_of, name_of
from grader.judging.task import JudgeTask, SharedStatus
from grader.outcome import Status
from grader.sandbox.connection import Connection, RemoteModule
from grader.sandbox.exceptions import WorkerFailed
from grader.sandbox.process import LearnerProcess
from grader.sandbox.record import Frame
from grader.sandbox.recorded import Answers, Batch, Plan, PlannedTest, RecordedChannel

PHASES = {"setup", "call", "teardown"}


@dataclass
class Attempt:
    """One run of a test: its first exception and the phases that came to their end."""

    item: pytest.Item
    connection: Connection | None = None
    error: BaseException | None = None
    phases: set[str] = field(default_factory=set)
    seconds: float = 0.0

    def note(self, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
        if call.excinfo is not None and self.error is None:
            self.error = call.excinfo.value
        if report.passed and not hasattr(report, "wasxfail"):
            self.phases.add(report.when)

    def fault(self) -> str | None:
        """Return why the test did not pass; None where it did."""
        if self.error is not None:
            return f"{type(self.error).__name__}: {self.error}"
        return None if self.phases == PHASES else "it did not finish"

    def changed(self) -> bool:
        """Say whether a call changed what it was given, in a test that does not say that it is meant to."""
        changed = self.connection is not None and self.connection.changed
        return bool(changed) and not self.item.get_closest_marker("changes_arguments")

    def passed(self) -> bool:
        """Say whether the test came to its end, and left its arguments as they were."""
        return self.fault() is None and not self.changed()

    def hung(self) -> bool:
        """Say whether it met the end of its time: waiting once more for a function that hangs tells nothing new."""
        failure = None if self.connection is None else self.connection.failure
        return failure is not None and failure.status == "timed_out"

    def unwritten(self) -> bool:
        """Say whether it met a function that is still a stub, which fails whatever ran before."""
        frames: list[Frame] = getattr(self.error, "learner_frames", [])
        return type(self.error) is NotImplementedError and bool(frames) and str(self.error) == frames[-1].function


def is_plain(item: pytest.Item) -> TypeGuard[pytest.Function]:
    """Say whether a test's exception and its phases tell its end: no report turns it into another."""
    return type(item) is pytest.Function and "subtests" not in item.fixturenames and not _expects_failure(item)


def run_phases(item: pytest.Function, following: pytest.Item | None, attempt: Attempt) -> None:
    """Run the phases of a plain test, with all hooks that a plugin may have for them, and keep what came of each.

    pytest.exit and KeyboardInterrupt pass through, as in pytest's own protocol.
    """
    if not item._request:
        item._initrequest()  # what its last run used was forgotten
    hook = item.ihook
    try:
        if _ends("setup", partial(hook.pytest_runtest_setup, item=item), attempt):
            _ends("call", partial(hook.pytest_runtest_call, item=item), attempt)
            if _expects_failure(item):  # the test itself has said so meanwhile; that it passes is then no pass
                attempt.phases.discard("call")
        _ends("teardown", partial(hook.pytest_runtest_teardown, item=item, nextitem=following), attempt)
    finally:
        item._request = False  # type: ignore[assignment]
        item.funcargs = None  # type: ignore[assignment]


def _ends(phase: str, step: Callable[[], Any], attempt: Attempt) -> bool:
    """Take one step; say whether it came to its end, and keep the first exception of the test."""
    try:
        step()
    except (pytest.exit.Exception, KeyboardInterrupt):
        raise
    except BaseException as error:
        attempt.error = error if attempt.error is None else attempt.error
        return False
    attempt.phases.add(phase)
    return True


def _expects_failure(item: pytest.Item) -> bool:
    return item.get_closest_marker("xfail") is not None


class LearnerProvider:
    """A pytest plugin object; it is also the provider of the `learner` fixture.

    open gives the connection of the test that begins.
    """

    def __init__(self, suite: Suite, task: JudgeTask, process: LearnerProcess) -> None:
        self.seed = task.options.seed
        self._suite = suite
        self.task = task
        self._process = process
        self.open: Callable[[], Connection] = partial(process.open, task.ends_at)
        self._attempt: Attempt | None = None
        self._other: Any = None  # where set, what `learner` is instead of the module that was handed in
        self._left_out = ""

    def begin(self) -> None:
        self._suite.config.stash[plugin.PROVIDER] = self
        self._suite.config.pluginmanager.register(self)

    def take_down(self) -> None:
        """End what a test has set up for one that is not run next."""
        self._suite.take_down()

    def end(self) -> None:
        self._suite.config.pluginmanager.unregister(self)
        del self._suite.config.stash[plugin.PROVIDER]

    def attempted(self, item: pytest.Item, following: pytest.Item | None, left_out: str = "") -> Attempt:
        """Run a test to its end, whatever comes of it; one that is left out ends before it begins."""
        self._left_out = left_out
        attempt = self._attempt = Attempt(item)
        started = time.perf_counter()
        try:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        except Exception as error:  # inside pytest, or in a fixture's finaliser: an error of this test as any other
            attempt.error = attempt.error or error
        finally:
            self._attempt = None
            attempt.seconds = time.perf_counter() - started
        return attempt

    def attempted_with(self, other: Any, item: pytest.Item, following: pytest.Item | None, again: int = 0) -> Attempt:
        """Run a test with another module in the learner's place; again is how many seeds on its inputs are drawn."""
        self._other, self.seed = other, self.task.options.seed + again
        try:
            return self.attempted(item, following)
        finally:
            self._other, self.seed = None, self.task.options.seed

    def learner(self, item: pytest.Item) -> Any:
        if self._other is not None:
            return self._other
        connection = self.open()
        if self._attempt is not None:
            self._attempt.connection = connection
        return RemoteModule(connection, self._process.job.label, public_names(self._suite.stage))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Run a test without making reports, where these would tell nothing more."""
        if self._attempt is None or not is_plain(item):
            return None
        run_phases(item, nextitem, self._attempt)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        if self._left_out:
            raise WorkerFailed("timed_out", self._left_out)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
        """Keep the first exception of a test and which phases came to their end, where pytest reports on them."""
        report: Any = yield
        if self._attempt is not None:
            self._attempt.note(call, report)
        return report  # type: ignore[no-any-return]


LOST: tuple[Status, ...] = ("crashed", "over_limit")  # ends of a process, which tests before may be the reason of


@dataclass(frozen=True)
class Ran:
    """A test by its place, and what came of it.

    attempt is None where it did not run: left_out says why, or answers are those of a module that passed it. ended is
    what the end of its process tells. following is the test that runs next.
    """

    place: int
    following: pytest.Item | None = None
    attempt: Attempt | None = None
    ended: tuple[Status, str] | None = None
    answers: Answers | None = None
    left_out: str = ""


class TestRunner:
    """Runs tests; left_out says why there is no time for one, or is empty."""

    __test__ = False

    def __init__(
        self,
        process: LearnerProcess,
        provider: LearnerProvider,
        shared: SharedStatus,
        plan: Plan | None,
        left_out: Callable[[int], str],
    ) -> None:
        self.items: Sequence[pytest.Item] = ()
        self._process = process
        self._provider = provider
        self._shared = shared
        self._plan = plan or {}
        self._ends_at = provider.task.ends_at
        self._left_out = left_out
        self._is_apart = False  # whether each test has a process of its own
        self._is_checked = False  # whether a test that failed beside others has run by itself
        self._last: Connection | None = None  # of a test that has ended, in whose process another may follow
        self._criterion = ""  # of that test
        self.strayed: list[int] = []  # places of tests that asked something else than their plan foresaw

    def run(self, places: Sequence[int], tell: Callable[[], None]) -> Generator[Ran, None, None]:
        """Run tests, and yield what comes of each; of one that had to run again it is yielded again.

        Before the body of a test runs, which may not end, what was yielded is told.
        """
        planned = [place for place in places if name_of(self.items[place]) in self._plan]
        live = [place for place in places if name_of(self.items[place]) not in self._plan]
        try:
            while planned and not self._is_apart:
                answers = self._ask(planned)
                if not answers:
                    break
                planned = planned[len(answers) :]
                yield from self._run_asked(answers, live, tell)
            if self._is_apart:
                self._provider.take_down()
                live, planned = list(places), []
            yield from self._run_live(sorted([*live, *planned]))
        finally:
            self._close()

    def planned(self, place: int) -> PlannedTest:
        return self._plan[name_of(self.items[place])]

    def again(self, place: int, answers: Answers) -> Attempt | None:
        """Run a test against answers that are known to pass it; None where it asks something else."""
        return self._against(answers, partial(self._provider.attempted, self.items[place], None))

    def _in_turn(self, places: Sequence[int]) -> Iterator[tuple[int, pytest.Item | None]]:
        """Yield each place and the test that follows: what one has set up for the next is not taken down."""
        for place, then in zip(places, [*places[1:], None], strict=False):
            yield place, None if then is None else self.items[then]

    def _ask(self, places: Sequence[int]) -> dict[int, Answers]:
        """Return the answers to the first of some tests, asked in one process: to all of them, or to as many as came.

        There are none where something was left behind: then each test gets a process of its own.
        """
        self._shared.at("test", places[0])
        connection = self._process.open(self._ends_at)
        try:
            if connection.failure is not None:
                return {}
            batch = Batch(connection, [self._plan[name_of(self.items[place])] for place in places])
            answers = batch.asked()
            if not batch.is_over:
                self._is_apart = self._process.has_changed(connection)
                return {} if self._is_apart else dict(zip(places, answers, strict=False))
        finally:
            self._process.done(connection)
        return self._ask(places[: len(answers)]) if answers else {}  # by a process that can say what is left there

    def _run_asked(self, answers: Mapping[int, Answers], live: list[int], tell: Callable[[], None]) -> Iterator[Ran]:
        """Run tests against their answers; those that have to ask as they run are added to live."""
        running: list[int] = []
        for place, each in answers.items():
            if not each.may_suffice:
                self.strayed.append(place)
                live.append(place)
            elif self._plan[name_of(self.items[place])].is_passed_by(each.digest, self._process.names):
                yield Ran(place, answers=each)
            else:
                running.append(place)
        tell()
        for place, following in self._in_turn(running):
            attempt = self._against(answers[place], partial(self._attempted, place, following))
            if attempt is None:
                self.strayed.append(place)
                live.append(place)
            elif self._is_to_repeat(attempt):
                yield self._by_itself(place, following)
            else:
                yield Ran(place, following, attempt, answers=answers[place])
            if self._is_apart:
                return

    def _against(self, answers: Answers, attempted: Callable[[], Attempt]) -> Attempt | None:
        """Have a test run against its answers; None where it asks something else."""
        channel = RecordedChannel(answers)
        self._provider.open = partial(self._process.over, channel, self._ends_at)
        attempt = attempted()
        if attempt.connection is not None:
            attempt.connection.end()
        return None if channel.strayed else attempt

    def _run_live(self, places: Sequence[int]) -> Iterator[Ran]:
        """Run tests that ask a process."""
        was_apart, seen = self._is_apart, list[int]()
        for place, following in self._in_turn(places):
            ran = self._ran_live(place, following)
            if not self._is_apart and ran.attempt is not None and not ran.attempt.hung():
                seen.append(place)
            yield ran
        if not was_apart and not self._is_apart and len(seen) > 1:
            self._is_apart = self._has_left_something()
        if self._is_apart and not was_apart:
            for place, following in self._in_turn(seen):
                yield self._ran_live(place, following)

    def _ran_live(self, place: int, following: pytest.Item | None) -> Ran:
        if left_out := self._left_out(place):
            self._shared.at("test", place)
            self._provider.attempted(self.items[place], following, left_out)  # what the test before had set up ends
            return Ran(place, following, left_out=left_out)
        attempt, ended = self._tried(place, following)
        if attempt.connection is not None and attempt.connection.tests_before and self._is_to_repeat(attempt):
            return self._by_itself(place, following)
        return Ran(place, following, attempt, ended)

    def _by_itself(self, place: int, following: pytest.Item | None) -> Ran:
        """Run a test once more, in a process that has seen no other; if it passes there, what was left was not seen."""
        self._close()
        attempt, ended = self._tried(place, following)
        if not self._is_lost(attempt):
            self._is_checked = True
            self._is_apart = self._is_apart or attempt.passed()
        return Ran(place, following, attempt, ended)

    def _tried(self, place: int, following: pytest.Item | None) -> tuple[Attempt, tuple[Status, str] | None]:
        """Run a test in the process of the one before, if it may follow there, and keep the process for the next."""
        criterion = criterion_of(self.items[place])
        if self._is_apart and (self._process.fork or criterion != self._criterion):
            self._close()
        self._criterion = criterion
        self._provider.open = self._opened
        attempt = self._attempted(place, following)
        connection = attempt.connection
        if connection is None:
            return attempt, None
        connection.end()
        if connection.failure is None:
            self._last = connection
            return attempt, None
        return attempt, self._process.done(connection)

    def _attempted(self, place: int, following: pytest.Item | None) -> Attempt:
        self._shared.at("test", place)
        bounds.bound_time(bounds.TEST_SECONDS)
        return self._provider.attempted(self.items[place], following)

    def _opened(self) -> Connection:
        before, self._last = self._last, None
        if before is None:
            return self._process.open(self._ends_at)
        return self._process.follow(before, self._ends_at)

    def _is_to_repeat(self, attempt: Attempt) -> bool:
        """Say whether a test failed where others ran before, and they may be the reason.

        So it is with the first that fails, with any if something was left behind, and where no memory was left or the
        process ended.
        """
        if self._is_apart or attempt.passed() or attempt.hung() or attempt.unwritten():
            return False
        if self._is_lost(attempt):
            return True
        self._is_apart = self._has_left_something()
        return self._is_apart or not self._is_checked

    @staticmethod
    def _is_lost(attempt: Attempt) -> bool:
        """Say whether a test took all memory, or ended the process."""
        failure = None if attempt.connection is None else attempt.connection.failure
        return isinstance(attempt.error, MemoryError) or (failure is not None and failure.status in LOST)

    def _has_left_something(self) -> bool:
        return self._last is not None and self._process.has_changed(self._last)

    def _close(self) -> None:
        last, self._last = self._last, None
        if last is not None:
            self._process.done(last)
