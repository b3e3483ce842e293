"""Where the system cannot fork: a fresh worker for each process."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from grader.errors import IsolationRefused
from grader.protocol import codec
from grader.sandbox.exceptions import WorkerFailed
from tests.conftest import Learner, Start
from tests.sandbox.hostile.breaking import SOURCE


class TestWithoutFork:
    """Where the system cannot fork: a fresh worker for each process."""

    @pytest.fixture
    def learner(self, start: Start) -> Iterator[Learner]:
        learner = start(SOURCE, "process", fork=False, call_seconds=3)
        yield learner
        learner.process.kill()

    @pytest.fixture(autouse=True)
    def _next_test_runs(self) -> None:
        """Each test here says itself what the next one finds."""

    @staticmethod
    def run(learner: Learner, call: Callable[[Any], Any]) -> Any:
        connection = learner.process.open(time.monotonic() + 30)
        from grader.sandbox.connection import RemoteModule

        try:
            return call(RemoteModule(connection, "small.py"))
        except WorkerFailed as error:
            return error.status
        finally:
            learner.process.done(connection)

    def test_calls_work(self, learner: Learner) -> None:
        assert self.run(learner, lambda remote: remote.fine(1)) == 2

    def test_each_is_fresh_and_tests_may_follow_one_another_in_it(self, learner: Learner) -> None:
        from grader.sandbox.connection import RemoteModule

        assert [self.run(learner, lambda remote: remote.count()) for _ in range(2)] == [2, 2]
        first = learner.process.open(time.monotonic() + 30)
        assert RemoteModule(first, "small.py").count() == 2
        first.end()
        second = learner.process.follow(first, time.monotonic() + 30)
        assert RemoteModule(second, "small.py").count() == 3 and learner.process.has_changed(second)

    @pytest.mark.full_matrix
    def test_the_next_test_runs_after_a_crash_or_a_hang(self, learner: Learner) -> None:
        assert self.run(learner, lambda remote: remote.leave(1)) == "crashed"
        assert self.run(learner, lambda remote: remote.count()) == 2
        assert self.run(learner, lambda remote: remote.hang()) == "timed_out"
        assert self.run(learner, lambda remote: remote.count()) == 2

    def test_handles_do_not_pass_from_test_to_test(self, learner: Learner) -> None:
        kept: list[Any] = []
        self.run(learner, lambda remote: kept.append(remote.fine))
        with pytest.raises((WorkerFailed, codec.WireError)):
            self.run(learner, lambda remote: remote.fine(kept[0]))
        with pytest.raises((WorkerFailed, codec.WireError)):
            kept[0](1)

    def test_bubblewrap_is_refused(self, start: Start) -> None:
        with pytest.raises(IsolationRefused, match="can fork"):
            start(SOURCE, "bubblewrap", fork=False)
