"""Where numbers are drawn several answers are right: a change counts if the tests pass with it as a whole."""

from __future__ import annotations

from grader.tests.conftest import SmallCourse
from grader.tests.diagnosis.repairs.layers import told

MANIFEST = """
    schema = 1
    id = "s90"
    title = "Parts"
    module = "small.py"
    requires = []

    [[criteria]]
    id = "parts"
    text = "parts"
    functions = ["parts"]
    needs = []
    hints = ["a", "b", "c"]
"""
SOLUTION = '''
    def parts(number, rng):
        """Return the numbers of a large and of a small part, drawn."""
        order = rng.permutation(number)
        return order[2:], order[:2]
'''
LEARNERS = """
    import numpy as np


    def parts(number, rng):
        order = np.arange(number)
        rng.shuffle(order)
        small = order[-2:]
        large = order[:-2]
        return large, small
"""
TESTS = """
    @pytest.mark.criterion("parts")
    @pytest.mark.parametrize("number", [5, 6, 9])
    def test_each_number_is_in_one_part(learner, rng, number):
        large, small = learner.parts(number, rng)
        assert_equal(len(small), 2, name="the small part")
        assert_array(np.sort(np.concatenate([large, small])), np.arange(number), name="both parts, sorted")
"""


def test_a_change_with_which_all_of_the_tests_pass_is_told(course: SmallCourse) -> None:
    course.write(manifest=MANIFEST, solution=SOLUTION, public=TESTS, hidden=TESTS.replace("[5, 6, 9]", "[7]"))
    assert course.grade(LEARNERS).verdict.passed
    found = told(course.grade(LEARNERS.replace("return large, small", "return small, large")).verdict)
    assert any(each.startswith("parts answers as if large and small were") for each in found.get("parts", ())), found


def test_what_no_change_makes_pass_is_not_told(course: SmallCourse) -> None:
    course.write(manifest=MANIFEST, solution=SOLUTION, public=TESTS, hidden=TESTS.replace("[5, 6, 9]", "[7]"))
    assert not told(course.grade(LEARNERS.replace("return large, small", "return large[:0], [7, 7]")).verdict)
