"""Public tests of graphs."""

import pytest

from grader.testing import assert_equal

DIAMOND = {"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": [], "x": ["a"]}


@pytest.mark.criterion("steps")
@pytest.mark.values
def test_steps_in_a_diamond(learner):
    assert_equal(learner.steps_from(DIAMOND, "a"), {"a": 0, "b": 1, "c": 1, "d": 2})


@pytest.mark.criterion("order")
@pytest.mark.values
def test_order_of_a_diamond(learner):
    assert_equal(learner.topological_order(DIAMOND), ["x", "a", "b", "c", "d"])


@pytest.mark.criterion("order")
@pytest.mark.refusals
def test_a_circle_is_refused(learner):
    with pytest.raises(ValueError):
        learner.topological_order({"a": ["b"], "b": ["a"]})
