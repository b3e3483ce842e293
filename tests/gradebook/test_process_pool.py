"""The pool: calls that die leave the others alone, waiting ones make room, and everything ends when it is asked to."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.gradebook import process_pool as module
from grader.gradebook.process_pool import Admission, ProcessPool, Used, WorkerDied, idle_seconds, tree_seconds
from tests.pace import forked
from tests.support.places import ROOT

GIVEN: list[str] = []


@pytest.fixture(autouse=True)
def interpreters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the processes of a pool started as the grader starts them."""
    monkeypatch.setattr(module, "get_context", forked.started)


def prepare(text: str) -> None:
    GIVEN.append(text)


def given() -> tuple[list[str], int]:
    return GIVEN, os.getpid()


def double(number: int) -> int:
    return 2 * number


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fail() -> None:
    raise ValueError("as told")


def test_who_waits_for_a_call_that_another_takes_stops_waiting() -> None:
    """A SimpleQueue whose time is up waits for ever: about one in eight of these rounds left such a thread."""
    pool = ProcessPool(1, 2.0, prepare)
    calls: Any = type(pool._waiting)(0)
    pool.shutdown()
    stopped = threading.Event()

    def wait() -> None:
        while not stopped.is_set():
            calls.acquire(timeout=0.002)

    for _ in range(20):
        stopped.clear()
        threads = [threading.Thread(target=wait, daemon=True) for _ in range(8)]
        for thread in threads:
            thread.start()
        for _ in range(12):
            calls.release()
            calls.release()
            time.sleep(0.0019)
        stopped.set()
        for thread in threads:
            thread.join(30)
        assert not [thread for thread in threads if thread.is_alive()]


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPool]:
    pool = ProcessPool(1, 2.0, prepare, ("course",))
    yield pool
    pool.shutdown()


def test_a_process_is_prepared_once_and_answers_many_calls(pool: ProcessPool) -> None:
    first, second = pool.submit(given).result(60), pool.submit(given).result(60)
    assert first == second == (["course"], first[1]) and first[1] != os.getpid()
    assert [future.result(60) for future in [pool.submit(double, number) for number in range(5)]] == [0, 2, 4, 6, 8]


def nap() -> int:
    time.sleep(0.05)
    return os.getpid()


def test_a_process_starts_only_while_all_others_are_busy() -> None:
    """Each loads a stage's tests for itself, which takes longer than to grade a submission."""
    pool = ProcessPool(2, 60.0, prepare, ("",))
    try:
        assert len({pool.submit(os.getpid).result(60) for _ in range(12)}) == 1
        pool._admission._most = 2  # whatever the machine has to do
        assert len({call.result(60) for call in [pool.submit(nap) for _ in range(24)]}) == 2
    finally:
        pool.shutdown()


def nap_for(kind: str) -> tuple[str, int]:
    time.sleep(0.05)
    return kind, os.getpid()


def kind_of(kind: str) -> str:
    return kind


def test_a_process_gets_calls_of_kinds_that_it_knows() -> None:
    """Each makes what it needs for a kind for itself, such as the plan of a seed."""
    pool = ProcessPool(2, 60.0, prepare, ("",), kind_of)
    try:
        pool._admission._most = 2  # whatever the machine has to do
        done = [call.result(60) for call in [pool.submit(nap_for, kind) for kind in "aabbccdd" * 6]]
    finally:
        pool.shutdown()
    assert [kind for kind, _ in done] == [*"aabbccdd" * 6]
    assert len({process for _, process in done}) == 2
    assert len(set(done)) <= 6  # four kinds, and those that are shared as the calls run out


def test_a_process_without_calls_of_its_kinds_takes_others() -> None:
    pool = ProcessPool(2, 60.0, prepare, ("",), kind_of)
    try:
        pool._admission._most = 2  # whatever the machine has to do
        done = [call.result(60) for call in [pool.submit(nap_for, "a") for _ in range(24)]]
    finally:
        pool.shutdown()
    assert len({process for _, process in done}) == 2


def test_a_call_that_dies_hangs_or_fails_leaves_the_others_alone(pool: ProcessPool) -> None:
    calls = [pool.submit(die), pool.submit(fail), pool.submit(time.sleep, 60), pool.submit(double, 21)]
    with pytest.raises(WorkerDied, match="ended unexpectedly"):
        calls[0].result(60)
    with pytest.raises(ValueError, match="as told"):
        calls[1].result(60)
    with pytest.raises(WorkerDied, match="did not answer within 2 s"):
        calls[2].result(60)
    assert calls[3].result(60) == 42


def test_a_pool_that_is_shut_down_leaves_no_process_and_takes_no_call() -> None:
    pool = ProcessPool(1, 60.0, prepare, ("",))
    process = pool.submit(os.getpid).result(60)
    running, waiting = pool.submit(time.sleep, 60), pool.submit(double, 1)
    while not running.running():
        time.sleep(0.01)
    pool.shutdown()
    assert waiting.cancelled() and isinstance(running.exception(60), WorkerDied)
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    with pytest.raises(RuntimeError):
        pool.submit(double, 1)


def entered(admission: Admission, times: int, expected: int) -> int:
    """Return how many of so many threads are let in, with a clock that does not wait."""
    stopped = threading.Event()
    inside: list[bool] = []
    threads = [threading.Thread(target=lambda: inside.append(admission.enter(stopped))) for _ in range(times)]
    for thread in threads:
        thread.start()
    ends_at = time.monotonic() + 60
    while sum(inside) < expected and time.monotonic() < ends_at:
        time.sleep(0.01)
        admission.wake()
    time.sleep(0.05)
    count = sum(inside)
    stopped.set()
    admission.wake()
    for thread in threads:
        thread.join()
    return count


@pytest.mark.parametrize(("own", "idle", "let_in"), [(0.1, 1.9, 4), (1.9, 0.1, 2), (0.1, 0.1, 2), (None, 0.0, 2)])
def test_more_are_let_in_while_the_machine_has_idle_processors(own: float | None, idle: float, let_in: int) -> None:
    now = iter(range(10_000))
    seconds = [0.0]

    def clock() -> float:
        seconds[0] = float(next(now))
        return seconds[0]

    admission = Admission(2, 4, lambda: None if own is None else Used(own * seconds[0], idle * seconds[0]), clock)
    assert entered(admission, 6, let_in) == let_in
    admission.leave()
    assert admission.enter(threading.Event())


def test_the_time_of_a_tree_of_processes_is_summed(tmp_path: Path) -> None:
    for number, text in {
        7: "7 (a) b) S 1 0 0 0 0 0 0 0 0 0 1 2 3 4 0",
        8: "8 (x) S 7 0 0 0 0 0 0 0 0 0 10 0 0 0 0",
        9: "9 (x) S 1 0 0 0 0 0 0 0 0 0 100 0 0 0 0",
        10: "gone",
    }.items():
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "stat").write_text(text)
    assert tree_seconds(7, tmp_path) == 20 / os.sysconf("SC_CLK_TCK")
    assert tree_seconds(6, tmp_path) is None and tree_seconds(7, tmp_path / "no") is None
    (tmp_path / "stat").write_text("cpu  1 2 3 400 50 6\ncpu0 1 2 3 4 5 6")
    assert idle_seconds(tmp_path / "stat") == 450 / os.sysconf("SC_CLK_TCK") and idle_seconds(tmp_path) is None


CUT_SHORT = """
import time

from grader.gradebook.process_pool import ProcessPool

if __name__ == "__main__":
    pool = ProcessPool(4, 60.0, time.sleep, (0.0,))
    calls = [pool.submit(time.sleep, 30.0) for _ in range(8)]
    while not all(call.running() for call in calls[:4]):
        time.sleep(0.01)
    pool.shutdown(wait=False)
"""


def test_an_interpreter_that_ends_while_the_pool_does_says_nothing(tmp_path: Path) -> None:
    """As after a second Ctrl-C: it joins the processes that the pool's threads are about to end."""
    (tmp_path / "cut.py").write_text(CUT_SHORT)
    done = subprocess.run(
        [sys.executable, "cut.py"], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
