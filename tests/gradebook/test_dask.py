"""A real Dask cluster on this machine, workers of which are killed on the way; with --all-tiers only.

`python -m tests.gradebook.dask_kills` does so twenty times.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

import pytest

from grader.course.manifest import load_course
from grader.gradebook.class_run import Tally
from grader.isolation import tiers
from tests.gradebook.dask_kills import EARLY, MOMENTS, WORKERS, Told, killing, marks
from tests.support.cluster import Workers
from tests.support.command import NUMBERS, WRONG, Place

STUDENTS = 18
SLOW = NUMBERS.replace("return 2 * x", "import time; time.sleep(0.2); return 2 * x")


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


def graded(place: Place, tmp_path: Path, cluster: Workers, told: Told) -> list[str]:
    """Grade a class on a cluster, expect each mark once, and return the processes that graded."""
    handed = tmp_path / "handed"
    handed.mkdir()
    for number in range(STUDENTS):
        (handed / f"s{number}.py").write_text((WRONG if number % 3 == 0 else SLOW) + f"# {number}\n")
    found = marks(load_course(place.root), handed, tmp_path / "out", cluster.address, told)
    passed = {student for student, (is_passed, _) in found.items() if is_passed}
    assert passed == {f"s{number}" for number in range(STUDENTS) if number % 3}
    return [worker for _, worker in found.values()]


@pytest.mark.parametrize("moment", MOMENTS)
def test_all_grades_arrive_once_though_a_worker_is_killed(
    place: Place, tmp_path: Path, cluster: Workers, moment: str
) -> None:
    with killing(moment, cluster) as told:
        assert len(set(graded(place, tmp_path, cluster, told))) >= 2
    assert cluster.processes[0].poll()


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
