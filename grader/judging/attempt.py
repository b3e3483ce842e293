"""One run of a test: set up, called and taken down as pytest does it, with the `learner` that it gets."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeGuard

import pytest

from grader.course.provided import named
from grader.course.stage import public_names
from grader.judging import plugin
from grader.judging.pytest_suite import Suite
from grader.judging.task import JudgeTask
from grader.sandbox.connection import Connection
from grader.sandbox.exceptions import WorkerFailed
from grader.sandbox.module import RemoteModule
from grader.sandbox.process import LearnerProcess

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
        """Take in one phase that pytest reports on."""
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
        self.seed = task.seed
        self._suite = suite
        self.task = task
        self._process = process
        self.open: Callable[[], Connection] = partial(process.open, task.ends_at)
        self._attempt: Attempt | None = None
        self._other: Any = None  # where set, what `learner` is instead of the module that was handed in
        self._left_out = ""

    def begin(self) -> None:
        """Become what gives the suite's tests their `learner`."""
        self._suite.config.stash[plugin.PROVIDER] = self
        self._suite.config.pluginmanager.register(self)

    def end(self) -> None:
        """Leave the suite's tests as they were."""
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
        self._other, self.seed = other, self.task.seed + again
        try:
            return self.attempted(item, following)
        finally:
            self._other, self.seed = None, self.task.seed

    def learner(self, item: pytest.Item) -> Any:
        """Return the remote module of one test."""
        if self._other is not None:
            return self._other
        connection = self.open()
        if self._attempt is not None:
            self._attempt.connection = connection
        return RemoteModule(connection, self._process.job.label, public_names(self._suite.stage))

    def data(self, name: str) -> bytes:
        """Return a file of the stage's data, from the course's own copy."""
        return named(self._suite.files.data, name, self._suite.stage.id)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Run a test without making reports, where these would tell nothing more."""
        if self._attempt is None or not is_plain(item):
            return None
        run_phases(item, nextitem, self._attempt)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """Stop a test that is left out before it begins."""
        if self._left_out:
            raise WorkerFailed("timed_out", self._left_out)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
        """Keep the first exception of a test and which phases came to their end, where pytest reports on them."""
        report: Any = yield
        if self._attempt is not None:
            self._attempt.note(call, report)
        return report  # type: ignore[no-any-return]
