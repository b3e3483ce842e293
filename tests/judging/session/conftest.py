"""The course about doubling."""

from __future__ import annotations

import pytest

from tests.conftest import SmallCourse
from tests.judging.session.doubling import HIDDEN, MANIFEST, PUBLIC, SOLUTION


def written(course: SmallCourse) -> SmallCourse:
    course.write(manifest=MANIFEST, solution=SOLUTION, public=PUBLIC, hidden=HIDDEN)
    return course


@pytest.fixture
def course(small_course: SmallCourse) -> SmallCourse:
    """A course of three rows that its reference passes."""
    return written(small_course)
