"""A repair is none where what was refused rightly is no more refused with it."""

from __future__ import annotations

from grader.tests.conftest import SmallCourse
from grader.tests.diagnosis.repairs.layers import told

MANIFEST = """
    schema = 1
    id = "s90"
    title = "Shares"
    module = "small.py"
    requires = []

    [[criteria]]
    id = "share"
    text = "share"
    functions = ["share"]
    needs = []
    hints = ["a", "b", "c"]
"""
SOLUTION = '''
    def share(a, b):
        """Return a / b. Raises ValueError if b is next to nothing beside a."""
        if b <= a / 2**60:
            raise ValueError("b is next to nothing")
        return a / b
'''
LEARNERS = """
    def share(a, b):
        if b <= 0.001:
            raise ValueError("b is next to nothing")
        return a / b
"""
TESTS = """
    @pytest.mark.criterion("share")
    @pytest.mark.parametrize("b", [0.0005, 0.0007])
    def test_small(learner, b):
        assert_array(learner.share(3.0, b), 3.0 / b)


    @pytest.mark.criterion("share")
    @pytest.mark.parametrize("a", [3.0, 5.0])
    def test_nothing(learner, a):
        with pytest.raises(ValueError):
            learner.share(a, 0.0)
"""


def test_another_name_that_lets_everything_through_is_no_cause(course: SmallCourse) -> None:
    course.write(manifest=MANIFEST, solution=SOLUTION, public=TESTS, hidden=TESTS)
    found = told(course.grade(LEARNERS).verdict).get("share", set())
    assert not any("b were used where a belongs" in each or "`<=`" in each for each in found), found
