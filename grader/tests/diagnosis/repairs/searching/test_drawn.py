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


MASKED = '''
    import numpy as np

    def parts(x, share, rng):
        """Return x with that share of it, drawn, set to 0."""
        return np.where(rng.permutation(x.size) < round(share * x.size), 0, x)
'''
LEARNERS_MASKED = """
    import numpy as np

    def parts(x, share, rng):
        kept = rng.random(x.shape) >= share
        return kept * x
"""
TESTS_MASKED = """
    @pytest.mark.criterion("parts")
    @pytest.mark.parametrize("share", [0.25, 0.1])
    def test_as_many_are_0_as_are_asked_for(learner, rng, share):
        x = np.ones(4000)
        assert abs(learner.parts(x, share, rng).mean() - (1 - share)) < 0.05
"""


def test_what_draws_is_asked_where_arrays_are_given_as_well(course: SmallCourse) -> None:
    course.write(manifest=MANIFEST, solution=MASKED, public=TESTS_MASKED, hidden=TESTS_MASKED.replace("0.1", "0.2"))
    assert course.grade(LEARNERS_MASKED).verdict.passed
    found = told(course.grade(LEARNERS_MASKED.replace(">=", "<")).verdict)
    assert any("`<` stood where `>=` belongs" in each for each in found.get("parts", ())), found


BATCHES = """
    import numpy as np

    def parts(number, rng):
        order = rng.permutation(number)
        for start in range(0, number, 2):
            yield order[start : start + 2]
"""
TESTS_BATCHES = """
    @pytest.mark.criterion("parts")
    @pytest.mark.parametrize("number", [5, 6, 9])
    def test_each_number_comes_once(learner, rng, number):
        parts = [each for each in learner.parts(number, rng)]
        assert_array(np.sort(np.concatenate(parts)), np.arange(number), name="all parts, sorted")
"""


def test_an_order_that_is_drawn_anew_in_every_round_of_a_generator_is_told(course: SmallCourse) -> None:
    solution = BATCHES.replace("(number, rng):\n", '(number, rng):\n        """Yield parts of two numbers."""\n')
    course.write(
        manifest=MANIFEST, solution=solution, public=TESTS_BATCHES, hidden=TESTS_BATCHES.replace("[5, 6, 9]", "[7]")
    )
    assert course.grade(BATCHES).verdict.passed
    drawn = "        order = rng.permutation(number)\n"
    loop = "        for start in range(0, number, 2):\n"
    wrong = BATCHES.replace(drawn + loop, f"{loop}    {drawn}")
    found = told(course.grade(wrong).verdict)
    assert any("order were set back in every round" in each for each in found.get("parts", ())), found
