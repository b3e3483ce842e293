"""Grades are the same whoever grades: a small made-up class by one job, by many, check, watch, verify, among bombs.

With --all-tiers a Dask cluster on loopback grades it as well. `python -m tests.gradebook.same_grades s01` does
all of it with 500 submissions.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.submissions import BEARABLE
from grader.course.manifest import load_course
from grader.isolation import tiers
from tests.gradebook.same_grades import Class
from tests.support.command import Place

CLASS = 21  # twenty of them honest


@pytest.fixture
def graded(place: Place, tmp_path: Path) -> Class:
    course = load_course(place.root)
    return Class.graded(course, course.stages[0], CLASS, tmp_path, "auto", BEARABLE)


@pytest.mark.full_matrix
def test_by_many_jobs_on_a_cluster_and_one_by_one_all_grades_are_the_same(
    graded: Class, pytestconfig: pytest.Config
) -> None:
    ways = ["many", "check", "watch", "verify"]
    if pytestconfig.getoption("--all-tiers") and find_spec("distributed") is not None:
        ways.append("dask")
    assert graded.differences(ways) == {way: [] for way in ways}


@pytest.mark.full_matrix
def test_honest_ones_get_their_grades_among_bombs(tier: tiers.Tier, place: Place, tmp_path: Path) -> None:
    course = load_course(place.root)
    graded = Class.graded(course, course.stages[0], CLASS, tmp_path, tier, BEARABLE)
    assert graded.differences(["bombs"]) == {"bombs": []}


@pytest.mark.full_matrix
def test_a_submission_that_changes_is_found(graded: Class) -> None:
    right = next(each for each in graded.submissions if each.kind == "right")
    (graded.handed / f"{right.name}.py").write_text("x = 1\n", encoding="utf-8")
    for found in (graded.checked(), graded.watched(), graded.verified()):
        assert [line.partition(":")[0] for line in found] == [right.name]
