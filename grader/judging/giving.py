"""Gives the tests of a suite their `learner` and runs one at a time: the remote module, or another in its place."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from grader.course.data import named
from grader.course.stage import public_names
from grader.judging import phases, plugin
from grader.judging.attempt import Attempt
from grader.judging.suite import Suite
from grader.judging.task import Task
from grader.remote.connection import Connection
from grader.remote.exceptions import WorkerFailed
from grader.remote.module import RemoteModule
from grader.remote.processes.process import LearnerProcess


class Giving:
    """A pytest plugin object; it is also the provider of the `learner` fixture.

    open gives the connection of the test that begins.
    """

    def __init__(self, suite: Suite, task: Task, process: LearnerProcess) -> None:
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
        if self._attempt is None or not phases.is_plain(item):
            return None
        phases.run(item, nextitem, self._attempt)
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
