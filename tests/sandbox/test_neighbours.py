"""Runs at once cannot take each other's room for processes, and who did take it is told apart."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from grader.isolation import tiers, users
from grader.sandbox import process as remote_process
from grader.sandbox.exceptions import WorkerFailed
from grader.worker.confine import COUNTED_APART, NOBODY
from tests.conftest import Learner, Start

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="where tests run in forks")

HONEST = "def fine(x):\n    return x + 1\n"
BOMB = """
import os
import time

made = []


def hold(most=80):
    try:
        while len(made) < most:
            made.append(os.fork())
            if made[-1] == 0:
                time.sleep(40)
                os._exit(0)
    except OSError:
        pass
    return len(made)
"""
HELD_AT_IMPORT = f"{BOMB}\nhold()\n{HONEST}"
LIAR = """
import os


def none():
    raise BlockingIOError(11, "no room")


os.fork = none


def fine(x):
    return x
"""


@pytest.fixture
def one_at_a_time() -> Iterator[None]:
    """Keep the other workers of a parallel run out: what shares a user shares its number of processes."""
    with FileLock(Path(tempfile.gettempdir()) / "grader-tests-nobody.lock"):
        yield


class TestNeighbour:
    def test_all_that_a_bomb_holds_leaves_the_room_of_another_run(self, tier: tiers.Tier, start: Start) -> None:
        honest, bombs = start(HONEST, tier), [start(BOMB, tier) for _ in range(2)]
        if COUNTED_APART not in honest.process.guards:
            pytest.skip("the kernel counts the runs of this user together")
        try:
            for bomb in bombs:
                remote: Any = bomb.open()
                assert remote.hold() >= 40
            for _ in range(3):
                learner: Any = honest.open()
                assert learner.fine(1) == 2
        finally:
            for each in (honest, *bombs):
                each.done()
                each.process.kill()

    @pytest.mark.skipif(os.getuid() != 0, reason="needs root")
    @pytest.mark.full_matrix
    def test_where_runs_are_counted_together_a_fresh_worker_finds_room(
        self, tier: tiers.Tier, start: Start, monkeypatch: pytest.MonkeyPatch, one_at_a_time: None
    ) -> None:
        monkeypatch.setattr(users, "draw", lambda: NOBODY)
        honest, bomb = start(HONEST, tier), start(BOMB, tier)
        assert COUNTED_APART not in honest.process.guards
        try:
            remote: Any = bomb.open()
            assert remote.hold() >= 40
            for _ in range(3):
                learner: Any = honest.open()
                assert learner.fine(1) == 2
        finally:
            for each in (honest, bomb):
                each.done()
                each.process.kill()

    @pytest.mark.skipif(os.getuid() != 0, reason="needs root")
    def test_started_as_root_each_run_has_a_user_of_its_own(self, tier: tiers.Tier, start: Start) -> None:
        runs = [start(HONEST, tier) for _ in range(2)]
        users = {run.started.user for run in runs}
        assert len(users) == 2 and 0 not in users
        assert all(COUNTED_APART in run.process.guards for run in runs)


def failure(learner: Learner) -> WorkerFailed:
    remote: Any = learner.open()
    with pytest.raises(WorkerFailed) as caught:
        remote.fine(1)
    assert learner.done() is None
    return caught.value


class TestNoRoom:
    @pytest.mark.full_matrix
    def test_the_module_took_it(self, worker: Callable[..., Learner]) -> None:
        found = failure(worker(HELD_AT_IMPORT))
        assert found.status == "over_limit"
        assert "holds about" in str(found) and "no room is left to start this test" in str(found)

    def test_then_no_later_test_waits_for_it(self, worker: Callable[..., Learner]) -> None:
        learner = worker(HELD_AT_IMPORT)
        first = failure(learner)
        assert all(failure(learner) is first for _ in range(20))

    def test_a_test_before_took_it_and_costs_the_next_nothing(self, worker: Callable[..., Learner]) -> None:
        learner = worker(BOMB + HONEST)
        remote: Any = learner.open()
        remote.hold()
        time.sleep(0.7)  # the process that is forked ahead finds no room
        remote = learner.open()
        assert remote.fine(1) == 2

    @pytest.mark.full_matrix
    def test_a_worker_that_says_so_without_reason_has_failed_itself(self, worker: Callable[..., Learner]) -> None:
        assert failure(worker(LIAR)).status == "crashed"

    @pytest.mark.full_matrix
    def test_others_took_it(self, worker: Callable[..., Learner], monkeypatch: pytest.MonkeyPatch) -> None:
        """Where the kernel counts runs together: here no user has room for more than the worker's own few."""
        monkeypatch.setattr(remote_process, "MAX_PROCESSES", 1)
        learner = worker(HONEST)
        monkeypatch.setattr(learner.process, "guards", ())
        monkeypatch.setattr(learner.process, "renew", lambda: None)
        monkeypatch.setattr(learner.process._started, "others", lambda: 500)
        learner.process._before = 400
        found = failure(learner)
        assert found.status == "grader_fault" and "other processes of the user" in str(found)

    @pytest.mark.full_matrix
    def test_a_fresh_worker_is_asked_before_anything_is_said(
        self, worker: Callable[..., Learner], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(remote_process, "MAX_PROCESSES", 1)
            learner = worker(HONEST)
        remote: Any = learner.open()
        assert remote.fine(1) == 2


class TestGone:
    def test_a_worker_that_ends_before_each_test_has_crashed(self, worker: Callable[..., Learner]) -> None:
        source = "import os, threading\nthreading.Timer(0.2, os._exit, [0]).start()\ndef fine(x):\n    return x\n"
        learner = worker(source)
        time.sleep(0.5)
        remote: Any = learner.open()
        with pytest.raises(WorkerFailed) as caught:
            for _ in range(200):
                remote.fine(1)
                time.sleep(0.01)
        assert caught.value.status == "crashed"
