"""The far bound of a search counts processor time, here and in its process, and says that it ended the search."""

from __future__ import annotations

import time
from typing import Any

import pytest

from grader.diagnosis import runner
from grader.diagnosis.runner import RemoteRunner, RunnerGone
from grader.sandbox.exceptions import WorkerFailed


def made(ends_at: float) -> RemoteRunner:
    def start() -> Any:
        pytest.fail("a process was started")

    return RemoteRunner(start, lambda _: None, ends_at, lambda *_: False)


def test_a_search_that_used_its_processor_time_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "MOST_PROCESSOR_SECONDS", -1.0)
    found = made(time.monotonic() + 1000)
    with pytest.raises(RunnerGone):
        found.named("double")
    assert found.was_cut


def test_what_its_process_used_counts() -> None:
    found = made(time.monotonic() + 1000)
    found.seconds = runner.MOST_PROCESSOR_SECONDS + 1
    with pytest.raises(RunnerGone):
        found.named("double")
    assert found.was_cut


def test_a_search_that_waited_too_long_is_cut() -> None:
    found = made(time.monotonic() - 1)
    with pytest.raises(RunnerGone):
        found.named("double")
    assert found.was_cut


class Late:
    """A connection over which no answer came in time."""

    call_seconds = 0.0
    failure: WorkerFailed | None = None

    def forget(self) -> None:
        pass

    def request(self, *given: Any, label: str = "") -> Any:
        self.failure = WorkerFailed("timed_out", label)
        raise self.failure


def test_an_exchange_that_took_too_long_is_told_even_where_the_search_goes_on() -> None:
    connections: Any = [Late(), Late()]
    left = list(connections)
    found = RemoteRunner(left.pop, lambda _: None, time.monotonic() + 1000, lambda *_: False)
    assert not found.was_cut
    with pytest.raises(RunnerGone):
        found.named("double")
    assert found.was_cut
    with pytest.raises(RunnerGone):
        found.named("double")
    assert found.was_cut and not left


class Recording:
    """A connection that keeps what it was asked."""

    call_seconds = 0.0
    failure: WorkerFailed | None = None

    def __init__(self) -> None:
        self.records: list[Any] = []

    def forget(self) -> None:
        self.records.clear()

    def request(self, *given: Any, label: str = "") -> Any:
        self.records.append(given)
        return [[[]], 0.0]


def test_trials_are_not_kept() -> None:
    connection: Any = Recording()
    found = RemoteRunner(lambda: connection, lambda _: None, time.monotonic() + 1000, lambda *_: False)
    found._codes, found._module, found._connection = [], 1, connection
    for _ in range(3):
        found.attempt([[]], [])
    assert found.exchanges == 3 and len(connection.records) == 1
