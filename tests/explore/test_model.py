"""Which stages a course lets explore: its own plans, none without drawings, and clear errors for what is no plan."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grader.course.manifest import load_course
from grader.course.stage import Course
from grader.errors import CourseError
from grader.explore.model import Plan, may_draw, plans
from tests.support.places import ROOT

FOLDER = "some_drawings"


@pytest.fixture
def course(tmp_path: Path) -> Iterator[Course]:
    """This course's stages in another folder, with drawings of its own."""
    (tmp_path / FOLDER).mkdir()
    found = load_course(ROOT)
    yield Course(tmp_path, found.stages, replace(found.settings, drawings=FOLDER))
    for name in [name for name in sys.modules if name.split(".")[0] == FOLDER]:
        del sys.modules[name]


def test_this_course_has_plans_of_its_own_stages() -> None:
    course = load_course(ROOT)
    assert {"s04", "s15"} <= set(plans(course)) <= {stage.id for stage in course.stages}


def test_a_course_without_drawings_has_none(course: Course) -> None:
    assert plans(replace(course, settings=replace(course.settings, drawings=None))) == {}


def test_the_plans_are_those_of_the_courses_folder(course: Course) -> None:
    text = "from grader.explore.model import Plan\nPLANS = {'s01': Plan((), lambda example, seed: {}, False)}\n"
    (course.root / FOLDER / "plans.py").write_text(text, encoding="utf-8")
    assert isinstance(plans(course)["s01"], Plan)


@pytest.mark.parametrize("text", ["", "PLANS = 3\n", "PLANS = {'s01': 3}\n"])
def test_what_is_no_table_of_plans_is_the_courses_fault(course: Course, text: str) -> None:
    (course.root / FOLDER / "plans.py").write_text(text, encoding="utf-8")
    with pytest.raises(CourseError, match=rf"{FOLDER}/plans\.py defines no PLANS"):
        plans(course)


def test_which_stages_draw_is_read_from_the_table() -> None:
    course = load_course(ROOT)
    drawn = set(plans(course))
    assert {stage.id for stage in course.stages if may_draw(course, stage.id)} == drawn


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("PLANS = {'s02': 1 / 0}\n", False),
        ("PLANS = {'s01': 1 / 0}\n", True),
        ("PLANS = {**{'s01': 3}}\n", True),
        ("NAME = 's01'\nPLANS = {NAME: 3}\n", True),
        ("PLANS = dict(s01=3)\n", True),
        ("OTHER = {'s02': 3}\n", True),
        ("PLANS = {\n", True),
        (None, True),
    ],
)
def test_a_table_that_is_not_written_out_may_hold_any_stage(course: Course, text: str | None, may: bool) -> None:
    if text is not None:
        (course.root / FOLDER / "plans.py").write_text(text, encoding="utf-8")
    assert may_draw(course, "s01") is may


def test_no_stage_draws_without_drawings(course: Course) -> None:
    assert not may_draw(replace(course, settings=replace(course.settings, drawings=None)), "s01")
