"""What the tests of a second judge share: a stage with tests enough for one, and a core that is idle."""

from __future__ import annotations

import pytest

from grader.judging.processes import staff
from grader.tests.judging.processes.doubles import write
from grader.tests.support.small_course import SmallCourse


@pytest.fixture
def course(small_course: SmallCourse) -> SmallCourse:
    return write(small_course)


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staff, "has_idle_core", lambda: True)
    monkeypatch.setattr(staff, "FEWEST_ROWS", 2)
