"""What a kept grader starts ahead."""

from __future__ import annotations

import pytest

from grader.isolation import tiers
from grader.judging.grading import Grader, Options
from grader.submission import take
from grader.tests.conftest import SmallCourse
from grader.tests.judging.processes.doubles import RIGHT

pytestmark = pytest.mark.skipif(not tiers.FORKS, reason="needs forks")


@pytest.mark.full_matrix
def test_a_kept_grader_has_a_worker_ready_for_the_next_time(course: SmallCourse) -> None:
    path = course.root.parent / "handed_in.py"
    course._put(path, RIGHT)
    options, snapshot = Options(1, "process"), take(course.stage, path, course.root)
    with Grader(course.course, course.stage, warm=True) as grader:
        for _ in range(2):
            assert grader.grade(snapshot, options).passed
            grader.prepare(options)
            (own,) = grader._staff._workers.values()
            assert own._ahead is not None and own._ahead.running()
