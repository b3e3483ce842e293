"""A stage whose functions give objects: the members that its manifest lists are answered, in each way of judging."""

from __future__ import annotations

import pytest

from grader.isolation import tiers
from tests.conftest import SmallCourse

MANIFEST = """
    schema = 1
    id = "s90"
    title = "Small things"
    module = "small.py"
    requires = []

    [[criteria]]
    id = "counter"
    text = "Counter counts"
    functions = ["Counter", "Counter.add", "Counter.total"]
    hints = ["one", "two", "three"]
"""
SOLUTION = """
    class Counter:
        def __init__(self):
            self.total = 0

        def add(self, number):
            self.total += number
"""
TESTS = """
    @pytest.mark.criterion("counter")
    def test_total(learner):
        counter = learner.Counter()
        counter.add(3)
        counter.add(4)
        assert_equal(counter.total, 7)
"""


@pytest.mark.parametrize("fork", [tiers.FORKS, False])
def test_listed_members_are_answered(small_course: SmallCourse, fork: bool) -> None:
    small_course.write(manifest=MANIFEST, solution=SOLUTION, public=TESTS, hidden=TESTS)
    assert small_course.grade(SOLUTION, fork=fork).row("counter") == "passed"
    assert small_course.grade(SOLUTION.replace("+=", "="), fork=fork).row("counter") == "failed"
