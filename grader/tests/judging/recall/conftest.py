"""Graders that are kept, for a small stage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace

import pytest

from grader.judging.grading import Grader
from grader.judging.recall.memory import Memory
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


@pytest.fixture(scope="module")
def forgetful(course: SmallCourse) -> Iterator[Kept]:
    """A grader that is kept and remembers nothing: it never gets the same inputs twice in a row."""
    with Grader(course.course, course.stage) as grader:
        yield Kept(course, grader, course.root.parent / "run")


@pytest.fixture(scope="module")
def once(course: SmallCourse) -> Iterator[tuple[Kept, Memory]]:
    """A grader, and what it remembers once it has seen the right module pass twice."""
    stage = replace(course.stage, limits=replace(course.stage.limits, call_seconds=1.5))
    with Grader(course.course, stage, warm=True, hurried=True) as grader:
        found = Kept(course, grader, course.root.parent / "run")
        assert found.grade(RIGHT).verdict.passed and found.ran == ALL
        assert found.grade(RIGHT).verdict.passed and found.ran == ALWAYS
        assert found.memory is not None
        yield found, deepcopy(found.memory)


@pytest.fixture
def kept(once: tuple[Kept, Memory]) -> Kept:
    """A grader that has seen the right module pass twice: after that nothing is new to it."""
    once[0].remember(deepcopy(once[1]))
    return once[0]
