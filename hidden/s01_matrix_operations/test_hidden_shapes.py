"""Hidden tests of broadcast_shape, against shapes whose common shape is known by construction."""

import pytest

from grader.testing import assert_equal
from hidden.s01_matrix_operations import oracles

pytestmark = pytest.mark.values


@pytest.mark.criterion("broadcast-shape")
class TestBroadcastShape:
    def test_random_shapes_of_one_length(self, learner, rng):
        for rank in (0, 1, 2, 3, 4):
            a, b, expected = oracles.compatible_shapes(rng, rank, rank)
            assert_equal(learner.broadcast_shape(a, b), expected, name=f"broadcast_shape({a}, {b})")

    @pytest.mark.parametrize("swap", [False, True])
    def test_random_shapes_of_different_lengths(self, learner, rng, swap):
        for rank, other_rank in [(3, 1), (4, 2), (3, 0)]:
            a, b, expected = oracles.compatible_shapes(rng, rank, other_rank)
            a, b = (b, a) if swap else (a, b)
            assert_equal(learner.broadcast_shape(a, b), expected, name=f"broadcast_shape({a}, {b})")

    def test_ones_on_either_side(self, learner, rng):
        m, n = (int(size) for size in rng.integers(2, 9, 2))
        assert_equal(learner.broadcast_shape((m, 1), (1, n)), (m, n))
        assert_equal(learner.broadcast_shape((1, n), (m, 1)), (m, n))

    def test_common_shape_is_a_tuple(self, learner, rng):
        m, n = (int(size) for size in rng.integers(2, 9, 2))
        kinds = [type(learner.broadcast_shape(*pair)).__name__ for pair in (((m, 1), (n,)), ((), ()), ((m,), ()))]
        assert_equal(kinds, ["tuple"] * 3, name="the types of three common shapes")

    def test_shorter_shape_on_the_right(self, learner, rng):
        m, n = (int(size) for size in rng.integers(2, 9, 2))
        assert_equal(learner.broadcast_shape((m, n), ()), (m, n))
        assert_equal(learner.broadcast_shape((m, n, n), (n,)), (m, n, n))

    @pytest.mark.edges
    def test_a_one_is_stretched_to_zero_too(self, learner):
        assert_equal(learner.broadcast_shape((0,), (4, 1)), (4, 0))
        assert_equal(learner.broadcast_shape((3, 1), (1, 0)), (3, 0))

    @pytest.mark.refusals
    def test_sizes_that_differ_are_refused(self, learner, rng):
        m = int(rng.integers(2, 6))
        for a, b in [((3, m, 2), (m + 2, 2)), ((m + 2, 2), (3, m, 2)), ((m,), (m + 1,))]:
            with pytest.raises(ValueError):
                learner.broadcast_shape(a, b)

    @pytest.mark.refusals
    def test_shapes_that_fit_only_from_the_left_are_refused(self, learner):
        with pytest.raises(ValueError):
            learner.broadcast_shape((4, 3), (4,))

    @pytest.mark.refusals
    def test_zero_and_two_are_refused(self, learner):
        with pytest.raises(ValueError):
            learner.broadcast_shape((2, 3), (0, 3))
