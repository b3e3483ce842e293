"""Public tests of distances."""

import pytest

from grader.testing import assert_equal


@pytest.mark.criterion("distance")
@pytest.mark.values
@pytest.mark.parametrize(
    ("a", "b", "expected"), [("kitten", "sitting", 3), ("same", "same", 0), ("ab", "ba", 2), ("cart", "cat", 1)]
)
def test_known_distances(learner, a, b, expected):
    assert_equal(learner.edit_distance(a, b), expected)


@pytest.mark.criterion("closest")
@pytest.mark.values
def test_the_first_of_equals_is_taken(learner):
    assert_equal(learner.closest("cat", ["dog", "cart", "hat"]), "cart")
