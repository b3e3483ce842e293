"""The course about doubling."""

from __future__ import annotations

import pytest

from tests.conftest import SmallCourse
from tests.judging.session.doubling import HIDDEN, MANIFEST, PUBLIC, SOLUTION


@pytest.fixture
def course(small_course: SmallCourse) -> SmallCourse:
    """A course of three rows that its reference passes."""
    small_course.write(manifest=MANIFEST, solution=SOLUTION, public=PUBLIC, hidden=HIDDEN)
    return small_course
