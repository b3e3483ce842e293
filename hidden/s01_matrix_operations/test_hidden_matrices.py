"""Hidden tests of the matrix rows: products, transposes, trace, Frobenius norm, distances."""

import math

import numpy as np
import pytest

from grader.testing import assert_array, assert_shape
from hidden.s01_matrix_operations import oracles

pytestmark = pytest.mark.values


def integers_and_fractions(rng, shape, other):
    """Small integers in one shape, normal numbers in the other: what cannot hold fractions cuts them off."""
    return rng.integers(-9, 10, shape), rng.normal(size=other)


@pytest.mark.criterion("matmul")
class TestMatmul:
    @pytest.mark.parametrize(("m", "k", "n"), [(3, 4, 5), (5, 3, 2), (4, 4, 4)])
    def test_random_matrices(self, learner, rng, m, k, n):
        A, B = rng.normal(size=(m, k)), rng.normal(size=(k, n))
        expected = oracles.matrix_product(A, B)
        assert_array(learner.matmul(A, B), expected, terms=10 * k)

    @pytest.mark.dtype
    def test_single_precision_stays(self, learner, rng):
        A, B = rng.normal(size=(3, 4)).astype(np.float32), rng.normal(size=(4, 2)).astype(np.float32)
        expected = oracles.matrix_product(A, B)
        assert_array(learner.matmul(A, B), expected, terms=40, dtype="float32")

    @pytest.mark.dtype
    def test_integers_with_fractions(self, learner, rng):
        A, B = integers_and_fractions(rng, (3, 4), (4, 2))
        for left, right in [(A, B), (B.T, A.T)]:
            expected = oracles.matrix_product(left, right)
            assert_array(learner.matmul(left, right), expected, terms=40)

    @pytest.mark.edges
    def test_nothing_to_sum(self, learner):
        assert_array(learner.matmul(np.zeros((2, 0)), np.zeros((0, 3))), np.zeros((2, 3)))

    @pytest.mark.refusals
    def test_inner_sizes_that_differ_are_refused(self, learner, rng):
        for inner, other in [(3, 5), (3, 2), (4, 1), (1, 4)]:
            with pytest.raises(ValueError):
                learner.matmul(rng.normal(size=(2, inner)), rng.normal(size=(other, 3)))

    @pytest.mark.refusals
    def test_vectors_and_stacks_are_refused(self, learner, rng):
        for a, b in [((3, 3), (3,)), ((3,), (3, 3)), ((2, 3, 3), (2, 3, 3))]:
            with pytest.raises(ValueError):
                learner.matmul(rng.normal(size=a), rng.normal(size=b))


@pytest.mark.criterion("batched-matmul")
class TestBatchedMatmul:
    def check(self, learner, rng, a, b, leading):
        A, B = rng.normal(size=a), rng.normal(size=b)
        expected = oracles.stacked_product(A, B, leading)
        assert_array(learner.batched_matmul(A, B), expected, terms=10 * a[-1])

    def test_stacks_of_one_size(self, learner, rng):
        self.check(learner, rng, (3, 2, 4), (3, 4, 5), (3,))

    def test_batch_and_heads(self, learner, rng):
        self.check(learner, rng, (2, 3, 4, 2), (2, 3, 2, 4), (2, 3))

    def test_a_plain_matrix_on_the_left(self, learner, rng):
        self.check(learner, rng, (3, 4), (2, 4, 5), (2,))

    def test_leading_axes_broadcast_both_ways(self, learner, rng):
        self.check(learner, rng, (2, 1, 3, 4), (5, 4, 2), (2, 5))

    def test_plain_matrices(self, learner, rng):
        self.check(learner, rng, (3, 4), (4, 2), ())

    @pytest.mark.dtype
    def test_single_precision_stays(self, learner, rng):
        A, B = rng.normal(size=(2, 3, 4)).astype(np.float32), rng.normal(size=(2, 4, 3)).astype(np.float32)
        expected = oracles.stacked_product(A, B, (2,))
        assert_array(learner.batched_matmul(A, B), expected, terms=40, dtype="float32")

    @pytest.mark.dtype
    def test_integers_with_fractions(self, learner, rng):
        A, B = integers_and_fractions(rng, (2, 4, 4), (2, 4, 4))
        for left, right in [(A, B), (B, A)]:
            expected = oracles.stacked_product(left, right, (2,))
            assert_array(learner.batched_matmul(left, right), expected, terms=40)

    @pytest.mark.refusals
    def test_inner_sizes_that_differ_are_refused(self, learner, rng):
        for a, b in [((2, 3, 1), (2, 4, 5)), ((2, 3, 4), (1, 5)), ((2, 3, 4), (2, 3, 4))]:
            with pytest.raises(ValueError):
                learner.batched_matmul(rng.normal(size=a), rng.normal(size=b))

    @pytest.mark.refusals
    def test_stacks_that_do_not_broadcast_are_refused(self, learner, rng):
        with pytest.raises(ValueError):
            learner.batched_matmul(rng.normal(size=(2, 3, 4)), rng.normal(size=(3, 4, 5)))

    @pytest.mark.refusals
    def test_vectors_are_refused(self, learner, rng):
        for a, b in [((2, 3, 4), (4,)), ((4,), (2, 4, 5))]:
            with pytest.raises(ValueError):
                learner.batched_matmul(rng.normal(size=a), rng.normal(size=b))


@pytest.mark.criterion("swap-last-axes")
class TestSwapLastAxes:
    @pytest.mark.parametrize("shape", [(2, 3, 4), (2, 5, 4, 3), pytest.param((2, 0, 3), marks=pytest.mark.edges)])
    def test_random_stack(self, learner, rng, shape):
        A = rng.normal(size=shape)
        expected = oracles.swapped(A)
        assert_array(learner.swap_last_axes(A), expected)

    @pytest.mark.dtype
    def test_square_matrices_in_single_precision(self, learner, rng):
        A = rng.normal(size=(3, 3, 3)).astype(np.float32)
        expected = oracles.swapped(A)
        assert_array(learner.swap_last_axes(A), expected, dtype="float32")

    @pytest.mark.refusals
    def test_vector_is_refused(self, learner, rng):
        with pytest.raises(ValueError):
            learner.swap_last_axes(rng.normal(size=4))


@pytest.mark.criterion("trace")
class TestTrace:
    def test_random_matrix(self, learner, rng):
        A = rng.normal(size=(n := int(rng.integers(3, 12)), n))
        diagonal = [float(A[i, i]) for i in range(n)]
        assert_array(learner.trace(A), math.fsum(diagonal), terms=oracles.rounding_terms(diagonal))

    @pytest.mark.edges
    def test_empty_matrix(self, learner):
        assert_array(learner.trace(np.zeros((0, 0))), 0.0)

    @pytest.mark.refusals
    def test_matrix_that_is_not_square_is_refused(self, learner, rng):
        for shape in [(3, 5), (4, 2), (1, 3)]:
            with pytest.raises(ValueError):
                learner.trace(rng.normal(size=shape))

    @pytest.mark.refusals
    def test_vectors_and_stacks_are_refused(self, learner, rng):
        for shape in [(3, 3, 2), (3, 3, 3), (4,)]:
            with pytest.raises(ValueError):
                learner.trace(rng.normal(size=shape))


@pytest.mark.criterion("frobenius-norm")
class TestFrobeniusNorm:
    @pytest.mark.parametrize("shape", [(3, 6), (7, 2), (4, 4)])
    def test_random_matrix(self, learner, rng, shape):
        A = rng.normal(size=shape)
        expected = math.hypot(*map(float, A.ravel()))
        assert_array(learner.frobenius_norm(A), expected, terms=A.size)

    @pytest.mark.dtype
    def test_integers_have_a_norm_with_fractions(self, learner, rng):
        A = rng.integers(-9, 10, size=(2, 3)) * 2 + 1  # odd: the sum of six squares is 6 modulo 8, and no square
        expected = math.hypot(*map(float, A.ravel()))
        assert_array(learner.frobenius_norm(A), expected, terms=A.size)

    @pytest.mark.edges
    def test_matrix_without_entries(self, learner):
        assert_array(learner.frobenius_norm(np.zeros((0, 3))), 0.0)

    @pytest.mark.refusals
    def test_vectors_and_stacks_are_refused(self, learner, rng):
        for shape in [(5,), (2, 3, 3)]:
            with pytest.raises(ValueError):
                learner.frobenius_norm(rng.normal(size=shape))


@pytest.mark.criterion("pairwise-distances")
class TestPairwiseSquaredDistances:
    @pytest.mark.parametrize(("n", "m", "d"), [(4, 6, 3), (7, 3, 5), (4, 4, 4)])
    def test_random_points(self, learner, rng, n, m, d):
        X, Y = rng.normal(size=(n, d)), rng.normal(size=(m, d))
        expected = oracles.squared_distances(X, Y)
        assert_array(learner.pairwise_squared_distances(X, Y), expected, terms=100 * d)

    def test_a_point_lies_at_no_distance_from_itself(self, learner, rng):
        X = rng.normal(size=(6, 3))
        expected = oracles.squared_distances(X, X)
        assert_array(learner.pairwise_squared_distances(X, X), expected, terms=300)

    @pytest.mark.dtype
    def test_single_precision_stays(self, learner, rng):
        X, Y = rng.normal(size=(3, 4)).astype(np.float32), rng.normal(size=(5, 4)).astype(np.float32)
        expected = oracles.squared_distances(X, Y)
        assert_array(learner.pairwise_squared_distances(X, Y), expected, terms=400, dtype="float32")

    @pytest.mark.dtype
    def test_integers_with_fractions(self, learner, rng):
        X, Y = integers_and_fractions(rng, (3, 4), (5, 4))
        for left, right in [(X, Y), (Y, X)]:
            expected = oracles.squared_distances(left, right)
            assert_array(learner.pairwise_squared_distances(left, right), expected, terms=400)

    @pytest.mark.edges
    def test_never_negative_close_together_and_far_from_the_origin(self, learner, rng):
        center = rng.uniform(500.0, 1500.0, size=4)
        X, Y = center + 1e-7 * rng.normal(size=(2, 30, 4))
        result = learner.pairwise_squared_distances(X, Y)
        assert_shape(result, (30, 30))
        epsilon = np.finfo(result.dtype).eps if result.dtype.kind == "f" else np.finfo(np.float64).eps
        allowed = 64 * 4 * epsilon * max(math.fsum(x * x for x in row) for row in [*X, *Y])
        assert_array(result, oracles.squared_distances(X, Y), rtol=0.0, atol=allowed)
        assert_array(np.minimum(result, 0.0), np.zeros((30, 30)), name="its negative part", rtol=0.0, atol=0.0)

    @pytest.mark.refusals
    def test_points_of_different_dimension_are_refused(self, learner, rng):
        for d, other in [(3, 2), (3, 1), (2, 4)]:
            with pytest.raises(ValueError):
                learner.pairwise_squared_distances(rng.normal(size=(4, d)), rng.normal(size=(3, other)))

    @pytest.mark.refusals
    def test_vectors_are_refused(self, learner, rng):
        for x, y in [((3,), (4, 3)), ((4, 3), (3,))]:
            with pytest.raises(ValueError):
                learner.pairwise_squared_distances(rng.normal(size=x), rng.normal(size=y))
