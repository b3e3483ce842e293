"""A stage with many tests, for what is started ahead of them."""

from __future__ import annotations

import pytest

from grader.tests.judging.processes.doubles import write
from grader.tests.support.small_course import SmallCourse


@pytest.fixture
def course(small_course: SmallCourse) -> SmallCourse:
    return write(small_course)
