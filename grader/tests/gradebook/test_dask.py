"""A real Dask cluster on this machine, one of whose workers is killed on the way; with --all-tiers only."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from grader.course.manifest import load_course
from grader.gradebook.class_run import RunOptions, Tally
from grader.gradebook.grade_class import grade
from grader.gradebook.store import Gradebook
from grader.isolation import tiers
from grader.tests.support.command import NUMBERS, WRONG, Place

WORKERS, STUDENTS, EARLY = 3, 18, 3
START_SECONDS = 120.0
SLOW = NUMBERS.replace("return 2 * x", "import time; time.sleep(0.2); return 2 * x")


class Workers:
    """A scheduler of this machine, and its workers, which no nanny starts anew."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self._stack, self._folder = stack, folder
        self._note = folder / "scheduler.json"
        self._start("scheduler", "--port", "0")
        _wait(self._note.is_file)
        self.address = str(json.loads(self._note.read_text(encoding="utf-8"))["address"])
        self.processes: list[subprocess.Popen[bytes]] = []

    def add(self, number: int) -> None:
        """Start workers, and wait until the scheduler knows them."""
        import distributed

        self.processes += [self._start("worker", "--no-nanny", "--nthreads", "1") for _ in range(number)]
        alive = sum(process.poll() is None for process in self.processes)
        connect: Any = distributed.Client  # it has no types
        with connect(self.address, set_as_default=False) as client:
            client.wait_for_workers(alive, timeout=START_SECONDS)

    def kill(self, number: int) -> None:
        """Kill the first workers."""
        for process in self.processes[:number]:
            process.kill()
            process.wait(START_SECONDS)

    def _start(self, role: str, *options: str) -> subprocess.Popen[bytes]:
        common = ("--scheduler-file", str(self._note), "--no-dashboard", "--host", "127.0.0.1")
        return self._stack.enter_context(_dask(role, *common, *options, folder=self._folder))


@pytest.fixture
def cluster(tmp_path: Path, pytestconfig: pytest.Config) -> Iterator[Workers]:
    if not pytestconfig.getoption("--all-tiers"):
        pytest.skip("--all-tiers starts a cluster")
    if find_spec("distributed") is None:
        pytest.skip("the group cluster-tests is not installed")
    if not tiers.FORKS:
        pytest.skip("a process that is killed is looked at")
    with ExitStack() as stack:
        workers = Workers(stack, tmp_path)
        workers.add(WORKERS)
        yield workers


@contextmanager
def _dask(role: str, *options: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / f"{role}.log").open("ab") as log:
        process = subprocess.Popen([sys.executable, "-m", "dask", role, *options], stdout=log, stderr=log)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def _wait(until: Callable[[], bool]) -> None:
    end = time.monotonic() + START_SECONDS
    while not until():
        assert time.monotonic() < end
        time.sleep(0.1)


def graded(place: Place, tmp_path: Path, cluster: Workers, told: Callable[[Tally], None]) -> list[str]:
    """Grade a class on a cluster, expect each mark once, and return the processes that graded."""
    handed = tmp_path / "handed"
    handed.mkdir()
    for number in range(STUDENTS):
        (handed / f"s{number}.py").write_text((WRONG if number % 3 == 0 else SLOW) + f"# {number}\n")
    course = load_course(place.root)
    options = RunOptions(tmp_path / "out", isolation="process", require="process", cluster=cluster.address)
    (tally,) = grade(course, course.stages[:1], handed, options, told).tallies
    assert (tally.passed, tally.failed, tally.faults) == (STUDENTS * 2 // 3, STUDENTS // 3, [])
    with Gradebook.open(tmp_path / "out") as book:
        found = [result.key.student for result in book.results()]
        assert sorted(found) == sorted(f"s{number}" for number in range(STUDENTS))
        assert sum(change.what == "mark" for change in book.history()) == STUDENTS
        return [result.made.worker for result in book.results()]


def test_all_grades_arrive_once_though_a_worker_is_killed(place: Place, tmp_path: Path, cluster: Workers) -> None:
    seen: list[int] = []

    def told(tally: Tally) -> None:
        seen.append(tally.done)
        if tally.done == EARLY:
            cluster.kill(1)

    assert len(set(graded(place, tmp_path, cluster, told))) >= 2
    assert cluster.processes[0].poll() and EARLY in seen


def test_all_grades_arrive_once_though_a_worker_is_killed_as_all_are_asked(
    place: Place, tmp_path: Path, cluster: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    import distributed

    client: Any = distributed.Client
    asked: list[Any] = []
    plain = client.run

    def run(self: Any, function: Any, *arguments: Any) -> Any:
        asked.append(function)
        if len(asked) == 1:
            return plain(self, os._exit, 1, workers=list(self.nthreads())[:1])
        return plain(self, function, *arguments)

    monkeypatch.setattr(client, "run", run)
    graded(place, tmp_path, cluster, lambda tally: None)
    assert len(asked) == 2


def test_all_grades_arrive_once_though_all_workers_that_hold_the_course_are_killed(
    place: Place, tmp_path: Path, cluster: Workers
) -> None:
    seen: list[int] = []

    def told(tally: Tally) -> None:
        seen.append(tally.done)
        if tally.done == EARLY:
            cluster.kill(WORKERS)
            cluster.add(1)

    graded(place, tmp_path, cluster, told)
    assert EARLY in seen
