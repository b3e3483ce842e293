"""Which tests count: those that ran beside others, or each by itself."""

from __future__ import annotations

import pytest

from grader.isolation import tiers
from grader.judging.grading import Grader, Options
from grader.submission import take
from tests.support import good_stage
from tests.support.small_course import SmallCourse

pytestmark = pytest.mark.skipif(not tiers.FORKS, reason="needs forks")
SLOW = """
    import time

    seen = []

    def total(x):
        seen.append(x)
        return sum(x) if len(seen) > 1 else 0

    def half(x):
        time.sleep(1.2)
        return sum(x) / 2
"""
LATER_SLOW = """
    pytestmark = pytest.mark.values

    @pytest.mark.criterion("total")
    def test_nothing_is_nothing(learner):
        assert learner.total([]) == 0

    @pytest.mark.criterion("total")
    def test_a_sum(learner):
        assert learner.total([1, 2]) == 3

    @pytest.mark.criterion("half")
    def test_a_half(learner):
        assert learner.half([1, 2]) == 1.5
"""
ONE = """
    @pytest.mark.values
    @pytest.mark.criterion("half")
    def test_of_one(learner):
        assert learner.half([2]) == 1
"""


def test_what_passes_by_what_was_left_does_not_where_a_later_answer_is_slow(small_course: SmallCourse) -> None:
    """With a plan as without: a process that is given up has not been asked what is left there."""
    right = SLOW.replace("if len(seen) > 1 else 0", "").replace("time.sleep(1.2)", "pass")
    small_course.write(manifest=good_stage.MANIFEST.format(id="s90"), solution=right, hidden=LATER_SLOW, public=ONE)
    path = small_course.root.parent / "slow.py"
    small_course._put(path, SLOW)
    snapshot = take(small_course.stage, path, small_course.root)
    with Grader(small_course.course, small_course.stage, warm=True) as grader:
        assert grader.plan(Options(1, "process"))
        verdict = grader.grade(snapshot, Options(1, "process"))
    assert {row.id: row.tests_passed for row in verdict.criteria} == {"total": 1, "half": 2}


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


def test_a_function_that_says_it_is_a_stub_after_others_is_asked_by_itself_as_well(small_course: SmallCourse) -> None:
    solution = RELIES.replace("sum(x) / 2 if calls else 0", "sum(x) / 2")
    small_course.write(manifest=good_stage.MANIFEST.format(id="s90"), solution=solution, hidden=IN_ORDER, public="")
    begun = 'if calls:\n            raise NotImplementedError("half")\n        return sum(x) / 2'
    source = solution.replace("return sum(x) / 2", begun)
    path = small_course.root.parent / "says.py"
    small_course._put(path, source)
    with Grader(small_course.course, small_course.stage) as grader:
        verdict = grader.grade(take(small_course.stage, path, small_course.root), Options(1, "process"))
    assert {row.id: row.tests_passed for row in verdict.criteria}["half"] == 1


UNSEEN = """
    import os
    os.umask(0)

    def total(x):
        return sum(x)

    def half(x):
        before = os.umask(0)
        os.umask(before + 1)
        if before:
            raise ValueError("not the first")
        return complex(sum(x) / 2)
"""
GROUPED = """
    pytestmark = pytest.mark.values

    @pytest.mark.criterion("total")
    def test_a_sum(learner):
        assert learner.total([1, 2]) == 3

    class TestHalf:
        @pytest.mark.criterion("half")
        def test_of_two(self, learner):
            assert abs(learner.half([1, 2]) - 1.5) < 1e-9

        @pytest.mark.criterion("half")
        def test_of_three(self, learner):
            assert abs(learner.half([1, 2, 3]) - 3) < 1e-9

        @pytest.mark.criterion("half")
        def test_of_four(self, learner):
            assert abs(learner.half([1, 2, 3, 4]) - 5) < 1e-9
"""


def test_a_test_that_passes_by_itself_costs_no_other_one_though_they_share_what_was_set_up(
    small_course: SmallCourse,
) -> None:
    right = UNSEEN.replace("if before:", "if False:").replace("complex(sum(x) / 2)", "sum(x) / 2")
    small_course.write(manifest=good_stage.MANIFEST.format(id="s90"), solution=right, hidden=GROUPED, public=ONE)
    path = small_course.root.parent / "unseen.py"
    small_course._put(path, UNSEEN)
    with Grader(small_course.course, small_course.stage, warm=True) as grader:
        assert grader.plan(Options(1, "process"))
        verdict = grader.grade(take(small_course.stage, path, small_course.root), Options(1, "process"))
    assert verdict.passed, [failure.message for row in verdict.criteria for failure in row.failures]
