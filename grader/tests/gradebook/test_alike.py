"""Grades are the same whoever grades: a small made-up class by one process, by the pool, and among hostile modules.

With --all-tiers a Dask cluster on loopback grades it, too; `python -m grader.bench.alike` does so with 500 of s01.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from grader.bench import alike
from grader.course.manifest import load_course
from grader.isolation import tiers
from grader.tests.support.command import Place

CLASS, BIT = 21, 11
HONEST, HOSTILE = 8, 3


@pytest.mark.full_matrix
def test_one_by_one_in_the_pool_and_on_a_cluster_all_grades_are_the_same(
    place: Place, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    course = load_course(place.root)
    ways = ["one", "pool"]
    if pytestconfig.getoption("--all-tiers") and find_spec("distributed") is not None:
        ways.append("dask")
    *_, found = alike.alike(course, course.stages[0], CLASS, tmp_path, ways, BIT)
    assert found.differ == [] and set(found.seconds) == set(ways)
    assert sum(found.kinds.values()) == CLASS and set(found.kinds) == {*alike.HONEST, "broken", "hanging", "hostile"}
    assert found.outcomes == {"graded": CLASS}


@pytest.mark.full_matrix
@pytest.mark.skipif(tiers.why_missing("bubblewrap") is not None, reason="bombs need a sandbox")
def test_honest_ones_get_their_grades_among_bombs_and_sleepers(place: Place, tmp_path: Path) -> None:
    course = load_course(place.root)
    found = alike.beside(course, course.stages[0], 2 * HONEST, HONEST, HOSTILE, tmp_path)
    assert found.differ == [] and sum(found.kinds.values()) == HONEST


def test_what_differs_is_told_and_other_words_apart(place: Place) -> None:
    stage = load_course(place.root).stages[0]
    right, wrong = {"points": 2, "outcome": "graded"}, {"points": 0, "outcome": "graded"}
    one = {"ada": (right, "a"), "bob": (right, "a"), "cy": (right, "a"), "dee": (right, "a")}
    other = {"ada": (right, "a"), "bob": (wrong, "a"), "cy": (right, "b")}
    found = alike.compared(stage, {"right": 4}, {"one": 1.0, "pool": 2.0}, [one, other])
    assert [each.partition(":")[0] for each in found.differ] == ["bob", "dee"]
    assert (found.reworded, found.outcomes) == (["cy"], {"graded": 4})
