"""Public tests of counting."""

import pytest

from grader.testing import assert_equal


@pytest.mark.criterion("count")
@pytest.mark.values
def test_capitals_and_marks_make_no_difference(learner):
    assert_equal(learner.count_words("The cat, the dog."), {"the": 2, "cat": 1, "dog": 1})
    assert_equal(learner.count_words("?!"), {})


@pytest.mark.criterion("rank")
@pytest.mark.values
def test_equals_come_in_the_order_of_the_alphabet(learner):
    assert_equal(learner.most_common("c b a b", 2), [("b", 2), ("a", 1)])
