"""Workers for a forked judge are started, looked at and ended by the process that watches it."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.errors import IsolationRefused
from grader.isolation import tiers
from grader.judging.judge_process import ASKED, SupervisorWorkers, WorkerKeeper
from grader.judging.task import JudgeGone, Messages

pytestmark = pytest.mark.skipif(not tiers.FORKS, reason="needs forks")


class Parent:
    """Answers what is asked at one end of a connection, in a thread."""

    def __init__(self, lending: WorkerKeeper, connection: socket.socket) -> None:
        self._lending, self._connection = lending, connection
        self._thread = threading.Thread(target=self._answer, daemon=True)
        self._thread.start()

    def join(self) -> None:
        """Wait for the end of the connection."""
        self._thread.join()

    def _answer(self) -> None:
        messages = Messages(self._connection)
        try:
            while True:
                kind, fields = messages.receive()
                assert kind in ASKED
                self._lending.answer(kind, self._connection, *fields)
        except JudgeGone:
            pass


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[SupervisorWorkers]:
    ours, theirs = socket.socketpair()
    lending = WorkerKeeper(tiers.LocalWorkerFactory("process", tmp_path))
    parent = Parent(lending, theirs)
    with ours, theirs:
        yield SupervisorWorkers(Messages(ours))
        ours.shutdown(socket.SHUT_RDWR)
        parent.join()
    lending.end()


def test_a_worker_that_is_asked_for_runs_until_its_end_is(asked: SupervisorWorkers) -> None:
    worker = asked.start()
    assert worker.running() and worker.own() >= 1 and worker.others() >= 0
    worker.kill()
    assert worker.connection.fileno() == -1


def test_another_one_takes_its_place(asked: SupervisorWorkers) -> None:
    first = asked.start()
    first.kill()
    second = asked.start()
    with first.connection, second.connection:
        assert second.running()


def test_one_that_ended_says_no_bound(asked: SupervisorWorkers) -> None:
    worker = asked.start()
    with worker.connection:
        worker.connection.shutdown(socket.SHUT_RDWR)
        assert worker.excess() is None and not worker.running()


def test_a_refusal_arrives_with_its_hint(asked: SupervisorWorkers, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise IsolationRefused("no process is to be started", "Try again.")

    monkeypatch.setattr(tiers, "start", refused)
    with pytest.raises(IsolationRefused, match="no process is to be started") as caught:
        asked.start()
    assert caught.value.hint == "Try again."


def test_without_an_answer_the_judge_is_told(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    theirs.close()
    with ours, pytest.raises(JudgeGone):
        SupervisorWorkers(Messages(ours)).start()


def wait_until(holds: Callable[[], bool]) -> None:
    for _ in range(3000):
        if holds():
            return
        os.sched_yield()
        threading.Event().wait(0.01)
    raise AssertionError("it never came to hold")


def test_one_that_runs_beside_another_ends_by_itself(asked: SupervisorWorkers) -> None:
    first, second, third = asked.start(), asked.beside().start(), asked.beside().start()
    with first.connection, second.connection, third.connection:
        assert second.own() >= 1 and second.others() >= 0 and second.excess() is None
        second.kill()
        assert first.running() and third.running()
        first.kill()
        assert third.running()
