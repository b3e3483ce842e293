"""Grades are the same whoever grades: a small made-up class by one process, by the pool, and among hostile modules.

With --all-tiers a Dask cluster on loopback grades it, too; `python -m grader.bench.alike` does so with 500 of s01.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from grader.bench import alike, made_up
from grader.course.manifest import load_course
from grader.gradebook.records import Mark
from grader.gradebook.table import Entry
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


def test_a_quick_class_waits_for_nobody_and_has_all_other_kinds(place: Place) -> None:
    stage = load_course(place.root).stages[0]
    kinds = Counter(kind for kind, _ in made_up.submissions(stage, 20, shares=made_up.QUICK))
    assert kinds == {"right": 9, "half": 4, "wrong": 5, "broken": 2}


def test_every_field_of_a_grade_is_compared_but_its_time_and_its_number() -> None:
    verdict = {"passed": True, "seed": 1, "duration_s": 1.0, "criteria": []}
    grade = Entry("ada", "first", "", "graded", Mark("ada", "first", 2, 2, 2, 1, 0, 0, "d", 1), None, verdict, None, 1)
    same = replace(grade, verdict={**verdict, "duration_s": 2.0}, mark=Mark("ada", "first", 2, 2, 2, 1, 0, 0, "d", 9))
    assert alike._worth(same) == alike._worth(grade)
    late = replace(grade, mark=Mark("ada", "first", 2, 2, 2, 1, 1, 1, "d", 1))
    others = (late, replace(grade, verdict={**verdict, "seed": 2}), replace(grade, attempts=2))
    assert all(alike._worth(other) != alike._worth(grade) for other in others)
