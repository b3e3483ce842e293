"""A change that only avoids a learner's error is no cause; the line that raises is looked at first."""

from __future__ import annotations

from grader.tests.conftest import SmallCourse
from grader.tests.diagnosis.repairs.layers import told

MANIFEST = """
    schema = 1
    id = "s90"
    title = "Both"
    module = "small.py"
    requires = []

    [[criteria]]
    id = "first"
    text = "first"
    functions = ["both"]
    needs = []
    hints = ["a", "b", "c"]

    [[criteria]]
    id = "second"
    text = "second"
    functions = ["both"]
    needs = []
    hints = ["a", "b", "c"]
"""
SOLUTION = '''
    import numpy as np


    def both(x, w, v):
        """Return the sums of x, and x w less v."""
        return np.sum(x, axis=0), np.dot(x, w) - v
'''
LEARNERS = """
    import numpy as np


    def both(x, w, v):
        sums = x.sum(axis=0)
        product = x @ w
        return sums, product - v
"""
TESTS = """
    @pytest.mark.criterion("first")
    @pytest.mark.parametrize("number", [3, 5])
    def test_sums(learner, rng, number):
        x, w, v = rng.normal(size=(number, 2)), rng.normal(size=(2, 4)), rng.normal(size=4)
        assert_array(learner.both(x, w, v)[0], x.sum(axis=0), name="the sums")

    @pytest.mark.criterion("second")
    @pytest.mark.parametrize("number", [3, 6])
    def test_products(learner, rng, number):
        x, w, v = rng.normal(size=(number, 2)), rng.normal(size=(2, 4)), rng.normal(size=4)
        assert_array(learner.both(x, w, v)[1], x @ w - v, name="the products")
"""


def graded(course: SmallCourse, product: str) -> dict[str, set[str]]:
    """Return what is told of a learner's module with another product."""
    course.write(manifest=MANIFEST, solution=SOLUTION, public=TESTS, hidden=TESTS.replace("[3, ", "[4, "))
    return told(course.grade(LEARNERS.replace("x @ w", product)).verdict)


def test_what_only_avoids_an_error_is_not_told(course: SmallCourse) -> None:
    assert "first" not in graded(course, "np.abs(3 * x.T @ w) + np.sign(w[0])")


def test_a_line_that_raises_is_told_in_both_rows(course: SmallCourse) -> None:
    found = graded(course, "x.T @ w")
    assert found == {row: {"both answers as if x were transposed (line 7)."} for row in ("first", "second")}
