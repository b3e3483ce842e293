"""Graders that are kept, for a small stage."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from grader.judging.grading import Grader
from grader.tests.judging.recall.keeping import ALL, ALWAYS, HIDDEN, MANIFEST, PUBLIC, RIGHT, Kept
from grader.tests.support.small_course import SmallCourse

Keep = Callable[..., Kept]


@pytest.fixture(scope="module")
def course(small_course: SmallCourse) -> SmallCourse:
    run = small_course.root.parent / "run"
    hidden, public = (text.replace("{run}", str(run)) for text in (HIDDEN, PUBLIC))
    small_course.write(manifest=MANIFEST, solution=RIGHT, public=public, hidden=hidden)
    return small_course


@pytest.fixture
def keep(course: SmallCourse) -> Iterator[Keep]:
    """Make graders that are kept, for somebody who waits or for a class."""
    made: list[Grader] = []

    def begin(hurried: bool = True) -> Kept:
        made.append(Grader(course.course, course.stage, warm=True, hurried=hurried))
        return Kept(course, made[-1], course.root.parent / "run")

    yield begin
    for grader in made:
        grader.close()


@pytest.fixture
def kept(keep: Keep) -> Kept:
    """A grader that has seen the right module pass twice: after that nothing is new to it."""
    found = keep()
    assert found.grade(RIGHT).verdict.passed and found.ran == ALL
    assert found.grade(RIGHT).verdict.passed and found.ran == ALWAYS
    return found
