"""Which tests count: those that ran beside others, or each by itself."""

from __future__ import annotations

import pytest

from grader.isolation import tiers
from grader.judging.grading import Grader, Options
from grader.submission import take
from grader.tests.support import good_stage
from grader.tests.support.small_course import SmallCourse

pytestmark = pytest.mark.skipif(not tiers.FORKS, reason="needs forks")
RELIES = """
    calls = []

    def total(x):
        if x:
            calls.append(x)
        return sum(x)

    def half(x):
        return sum(x) / 2 if calls else 0
"""
IN_ORDER = """
    pytestmark = pytest.mark.values

    @pytest.mark.criterion("total")
    def test_first(learner):
        assert learner.total([1, 2]) == 3

    @pytest.mark.criterion("half")
    def test_then(learner):
        assert learner.half([1, 2]) == 1.5

    @pytest.mark.criterion("total")
    def test_wrong_whatever_was_before(learner):
        assert learner.total([]) is None
"""


@pytest.mark.parametrize("source", [RELIES, RELIES.replace("return sum(x)\n", "return sum(x) or None\n")])
def test_what_passes_by_what_was_left_does_not_where_a_later_test_fails_by_itself(
    small_course: SmallCourse, source: str
) -> None:
    small_course.write(manifest=good_stage.MANIFEST.format(id="s90"), solution=RELIES, hidden=IN_ORDER, public="")
    path = small_course.root.parent / "relies.py"
    small_course._put(path, source)
    with Grader(small_course.course, small_course.stage) as grader:
        verdict = grader.grade(take(small_course.stage, path, small_course.root), Options(1, "process"))
    assert {row.id: row.tests_passed for row in verdict.criteria}["half"] == 0
