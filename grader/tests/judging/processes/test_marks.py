"""The marks of a second judge: seconds of tests that passed, which hold until one does not."""

from __future__ import annotations

import os

import pytest

from grader.isolation import tiers
from grader.judging.processes.marks import Marks

pytestmark = pytest.mark.skipif(not tiers.FORKS, reason="needs forks")


class TestMarks:
    def test_hold_the_seconds_of_what_has_passed(self) -> None:
        marks = Marks(3)
        marks.passed(1, 0.25)
        marks.passed(2, 0.0)
        assert marks.seconds_of(0) is None
        assert marks.seconds_of(1) == 0.25
        assert marks.seconds_of(2) is not None

    def test_hold_no_longer_once_something_has_not_passed(self) -> None:
        marks = Marks(3)
        marks.passed(1, 0.25)
        assert not marks.stopped
        marks.stop()
        assert marks.stopped
        assert marks.seconds_of(1) is None

    def test_are_seen_by_a_fork(self) -> None:
        marks = Marks(2)
        child = os.fork()
        if child == 0:
            marks.passed(1, 0.5)
            os._exit(0)
        os.waitpid(child, 0)
        assert marks.seconds_of(1) == 0.5
