"""Public tests of ladders."""

import pytest

from grader.testing import assert_equal


@pytest.mark.criterion("neighbours")
@pytest.mark.values
def test_neighbours_of_four_words(learner):
    expected = {"cat": ["cart", "cot"], "cart": ["cat"], "cot": ["cat"], "dog": []}
    assert_equal(learner.neighbours(["cat", "cart", "cot", "dog"]), expected)


@pytest.mark.criterion("fewest")
@pytest.mark.values
def test_a_ladder_through_the_list_of_words(learner, data):
    words = data("words.txt").decode().split()
    assert_equal(learner.fewest_changes(words, "lead", "gold"), 3)
