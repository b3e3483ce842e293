"""A repair that leaves another row wrong gives way to one that puts that right as well."""

from __future__ import annotations

import pytest

from grader.tests.conftest import SmallCourse
from grader.tests.diagnosis.repairs.layers import told

MANIFEST = """
    schema = 1
    id = "s90"
    title = "Smooth"
    module = "small.py"
    requires = []

    [[criteria]]
    id = "near"
    text = "near"
    functions = ["smooth"]
    needs = []
    hints = ["a", "b", "c"]

    [[criteria]]
    id = "far"
    text = "far"
    functions = ["smooth"]
    needs = []
    hints = ["a", "b", "c"]
"""
SOLUTION = '''
    import numpy as np


    def smooth(x):
        """Return log(1 + exp(x))."""
        if np.ndim(x) != 1:
            raise ValueError("x: expected one axis")
        return np.logaddexp(0.0, x)
'''
LEARNERS = """
    import numpy as np


    def smooth(x):
        if np.ndim(x) != 1:
            raise ValueError("x: expected one axis")
        return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))
"""
PUBLIC = """
    @pytest.mark.criterion("near")
    @pytest.mark.parametrize("number", [3, 4])
    def test_near(learner, number):
        x = np.arange(number) / number - 0.3
        assert_array(learner.smooth(x), np.log1p(np.exp(x)))
"""
FAR = """
    @pytest.mark.criterion("far")
    @pytest.mark.parametrize("size", [800.0, 900.0])
    def test_far(learner, size):
        assert_array(learner.smooth(np.array([size, -size])), np.array([size, 0.0]))
"""
REFUSED = """
    @pytest.mark.criterion("far")
    def test_refused(learner):
        with pytest.raises(ValueError):
            learner.smooth(np.ones((2, 2)))
"""
MINIMUM = "smooth answers as if the maximum were taken instead of the minimum (line 8)."


@pytest.mark.parametrize(("hidden", "is_minimum"), [(FAR, False), (REFUSED, True)])
def test_what_leaves_another_row_wrong_gives_way(course: SmallCourse, hidden: str, is_minimum: bool) -> None:
    """max(x, 0) + log(1 + exp(|x|)) is right with the minimum, too, until exp(|x|) is too large."""
    course.write(manifest=MANIFEST, solution=SOLUTION, public=PUBLIC, hidden=hidden)
    wrong = LEARNERS.replace("-np.abs(x)", "np.abs(x)")
    if is_minimum:  # nothing but a refusal speaks against it
        wrong = wrong.replace('raise ValueError("x: expected one axis")', "return x")
    (text,) = told(course.grade(wrong).verdict)["near"]
    assert text == MINIMUM if is_minimum else "absolute value" in text, text
