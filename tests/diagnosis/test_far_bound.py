"""The far bound of a search counts processor time, here and in its process, and says that it ended the search."""

from __future__ import annotations

import time
from typing import Any

import pytest

from grader.diagnosis import runner
from grader.diagnosis.runner import RemoteRunner, RunnerGone
from grader.sandbox.exceptions import WorkerFailed
from grader.sandbox.proxies import RemoteValue


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


class Fresh:
    """A connection to a process that knows only what was loaded there."""

    call_seconds = 0.0
    failure: WorkerFailed | None = None

    def __init__(self, first: int) -> None:
        self.known = {0}
        self.next = first

    def forget(self) -> None:
        pass

    def request(self, kind: str, target: int, *given: Any, label: str = "") -> Any:
        if target not in self.known:
            raise KeyError(target)
        self.next += 1
        self.known.add(self.next)
        return RemoteValue(self, self.next, "module", "module", ()) if kind == "load" else label


def test_a_new_process_has_the_module_before_a_name_of_it_is_asked() -> None:
    connections: Any = [Fresh(20), Fresh(10)]
    left = list(connections)
    found = RemoteRunner(left.pop, lambda _: None, time.monotonic() + 1000, lambda *_: False)
    found.load([b""])
    assert found.named("double") == "double"
    connections[1].failure = WorkerFailed("timed_out", "double")
    assert found.named("double") == "double"
    found.choose(())
    assert not left


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


def test_a_module_that_answers_for_the_grader_ends_its_search_and_is_not_quoted() -> None:
    class Refusing(Recording):
        def request(self, *given: Any, label: str = "") -> Any:
            raise LookupError("reference")

    connection: Any = Refusing()
    found = RemoteRunner(lambda: connection, lambda _: None, time.monotonic() + 1000, lambda *_: False)
    found._codes, found._module, found._connection = [], 1, connection
    with pytest.raises(RunnerGone):
        found.choose((1,))
