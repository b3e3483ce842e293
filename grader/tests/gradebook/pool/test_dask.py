"""A real Dask cluster on this machine, one of whose workers is killed on the way; with --all-tiers only."""

from __future__ import annotations

import json
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
from grader.gradebook.session import Wishes
from grader.gradebook.setting import Tally
from grader.gradebook.store import Gradebook
from grader.gradebook.whole import grade
from grader.isolation import tiers
from grader.tests.support.command import NUMBERS, WRONG, Place

WORKERS, STUDENTS, EARLY = 3, 18, 3
START_SECONDS = 120.0
SLOW = NUMBERS.replace("return 2 * x", "import time; time.sleep(0.2); return 2 * x")


@pytest.fixture
def cluster(tmp_path: Path, pytestconfig: pytest.Config) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Return the address of a scheduler, and its workers, which no nanny starts anew."""
    if not pytestconfig.getoption("--all-tiers"):
        pytest.skip("--all-tiers starts a cluster")
    if find_spec("distributed") is None:
        pytest.skip("the group cluster-tests is not installed")
    if not tiers.FORKS:
        pytest.skip("a process that is killed is looked at")
    note = tmp_path / "scheduler.json"
    common = ("--scheduler-file", str(note), "--no-dashboard", "--host", "127.0.0.1")
    with ExitStack() as stack:
        stack.enter_context(_dask("scheduler", *common, "--port", "0", folder=tmp_path))
        _wait(note.is_file)
        workers = [
            stack.enter_context(_dask("worker", *common, "--no-nanny", "--nthreads", "1", folder=tmp_path))
            for _ in range(WORKERS)
        ]
        address = str(json.loads(note.read_text(encoding="utf-8"))["address"])
        import distributed

        connect: Any = distributed.Client  # it has no types
        with connect(address) as client:
            client.wait_for_workers(WORKERS, timeout=START_SECONDS)
        yield address, workers


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


def test_all_grades_arrive_once_though_a_worker_is_killed(
    place: Place, tmp_path: Path, cluster: tuple[str, list[subprocess.Popen[bytes]]]
) -> None:
    address, workers = cluster
    handed = tmp_path / "handed"
    handed.mkdir()
    for number in range(STUDENTS):
        (handed / f"s{number}.py").write_text((WRONG if number % 3 == 0 else SLOW) + f"# {number}\n")
    seen: list[int] = []

    def told(tally: Tally) -> None:
        seen.append(tally.done)
        if tally.done == EARLY:
            workers[0].kill()

    course = load_course(place.root)
    wishes = Wishes(tmp_path / "out", isolation="process", require="process", cluster=address)
    (tally,) = grade(course, course.stages[:1], handed, wishes, told).tallies
    assert workers[0].wait(START_SECONDS) != 0 and EARLY in seen
    assert (tally.passed, tally.failed, tally.faults) == (STUDENTS * 2 // 3, STUDENTS // 3, [])
    with Gradebook.open(tmp_path / "out") as book:
        found = [result.key.student for result in book.results()]
        assert sorted(found) == sorted(f"s{number}" for number in range(STUDENTS))
        assert len({result.made.worker for result in book.results()}) >= 2
        assert sum(change.what == "mark" for change in book.history()) == STUDENTS
