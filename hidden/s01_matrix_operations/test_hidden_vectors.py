"""Hidden tests of the vector rows: dot and outer product, norms, cosine similarity, one-hot rows."""

import math

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, plain_array
from hidden.s01_matrix_operations import oracles

pytestmark = pytest.mark.values


def both_signs(rng, size):
    """Normal numbers, the largest of them negative, so that a forgotten absolute value shows."""
    v = rng.normal(size=size)
    v[0] = -(np.abs(v).max() + 0.5)
    v[1] = 0.25
    return v


@pytest.mark.criterion("dot-product")
class TestDotProduct:
    def test_random_vectors(self, learner, rng):
        v, w = rng.normal(size=(2, rng.integers(5, 40)))
        expected, terms = oracles.dot(v, w), oracles.rounding_terms(v * w)
        assert_array(learner.dot_product(v, w), expected, terms=terms)

    @pytest.mark.dtype
    def test_single_precision(self, learner, rng):
        v, w = rng.normal(size=(2, 12)).astype(np.float32)
        expected = np.float32(oracles.dot(v, w))
        assert_array(learner.dot_product(v, w), expected, terms=oracles.rounding_terms(v * w))

    @pytest.mark.edges
    def test_empty_vectors(self, learner):
        assert_array(learner.dot_product(np.zeros(0), np.zeros(0)), 0.0)

    @pytest.mark.refusals
    def test_a_length_of_one_is_not_stretched(self, learner, rng):
        with pytest.raises(ValueError):
            learner.dot_product(rng.normal(size=4), rng.normal(size=1))

    @pytest.mark.refusals
    def test_matrices_are_refused(self, learner, rng):
        A, u = rng.normal(size=(3, 3)), rng.normal(size=3)
        for v, w in [(A, A), (A, u), (u, A)]:
            with pytest.raises(ValueError):
                learner.dot_product(v, w)


@pytest.mark.criterion("outer-product")
class TestOuterProduct:
    @pytest.mark.parametrize(("n", "m"), [(3, 5), (6, 2)])
    def test_random_vectors(self, learner, rng, n, m):
        v, w = rng.normal(size=n), rng.normal(size=m)
        expected = oracles.outer(v, w)
        assert_array(learner.outer_product(v, w), expected)

    @pytest.mark.dtype
    def test_single_precision_stays(self, learner, rng):
        v, w = rng.normal(size=4).astype(np.float32), rng.normal(size=3).astype(np.float32)
        expected = oracles.outer(v, w)
        assert_array(learner.outer_product(v, w), expected, dtype="float32")

    @pytest.mark.dtype
    def test_integers_with_fractions(self, learner, rng):
        v, w = rng.integers(-9, 10, 4), rng.normal(size=3)
        for left, right in [(v, w), (w, v)]:
            expected = oracles.outer(left, right)
            assert_array(learner.outer_product(left, right), expected)

    @pytest.mark.refusals
    def test_matrices_are_refused(self, learner, rng):
        v, A = rng.normal(size=3), rng.normal(size=(3, 3))
        with pytest.raises(ValueError):
            learner.outer_product(A, v)
        with pytest.raises(ValueError):
            learner.outer_product(v, A)


@pytest.mark.criterion("vector-norm")
class TestVectorNorm:
    def test_one_norm(self, learner, rng):
        v = both_signs(rng, rng.integers(3, 30))
        expected = math.fsum(abs(float(x)) for x in v)
        assert_array(learner.vector_norm(v, 1), expected, terms=len(v))

    def test_euclidean_norm(self, learner, rng):
        v = both_signs(rng, rng.integers(3, 30))
        expected = math.hypot(*map(float, v))
        assert_array(learner.vector_norm(v.copy()), expected, name="vector_norm(v)", terms=len(v))
        assert_array(learner.vector_norm(v, p=2), expected, name="vector_norm(v, p=2)", terms=len(v))

    def test_infinity_norm(self, learner, rng):
        v = both_signs(rng, rng.integers(3, 30))
        for each in (v, -v):
            expected = max(abs(float(x)) for x in each)
            assert_array(learner.vector_norm(each.copy(), np.inf), expected)

    @pytest.mark.dtype
    def test_integers_have_a_norm_with_fractions(self, learner, rng):
        v = rng.integers(-9, 10, size=6) * 2 + 1  # odd: the sum of six squares is 6 modulo 8, and no square
        expected = math.hypot(*map(float, v))
        assert_array(learner.vector_norm(v), expected, terms=len(v))

    @pytest.mark.edges
    def test_empty_vector(self, learner):
        for p in (1, 2, np.inf):
            assert_array(learner.vector_norm(np.zeros(0), p), 0.0, name=f"vector_norm of an empty vector, p={p}")

    @pytest.mark.refusals
    def test_other_p_are_refused(self, learner, rng):
        for p in (3, 0.5, -1):
            with pytest.raises(ValueError):
                learner.vector_norm(rng.normal(size=4), p)

    @pytest.mark.refusals
    def test_other_p_are_refused_for_an_empty_vector_too(self, learner, rng):
        for v in (rng.normal(size=3), np.zeros(0)):
            with pytest.raises(ValueError):
                learner.vector_norm(v, 3)

    @pytest.mark.refusals
    def test_matrix_is_refused(self, learner, rng):
        with pytest.raises(ValueError):
            learner.vector_norm(rng.normal(size=(2, 3)))


@pytest.mark.criterion("cosine-similarity")
class TestCosineSimilarity:
    def test_random_vectors(self, learner, rng):
        v, w = rng.normal(size=(2, rng.integers(4, 25)))
        expected, terms = oracles.cosine(v, w), oracles.rounding_terms(v * w)
        assert_array(learner.cosine_similarity(v, w), expected, terms=terms)

    @pytest.mark.dtype
    def test_integers_have_a_cosine_with_fractions(self, learner, rng):
        v, w = rng.integers(1, 10, size=(2, 5))
        w[0] += v[0] + 10  # never parallel
        expected = oracles.cosine(v, w)
        assert_array(learner.cosine_similarity(v, w), expected, terms=oracles.rounding_terms(v * w))

    def test_opposed_vectors(self, learner, rng):
        v, w = np.abs(rng.normal(size=(2, 8))) + 0.1
        expected = -oracles.cosine(v, w)
        assert_array(learner.cosine_similarity(v, -w), expected, terms=8)

    @pytest.mark.edges
    def test_short_vectors_count_as_much_as_long_ones(self, learner, rng):
        v, w = np.abs(rng.normal(size=(2, 6))) + 0.1
        expected = oracles.cosine(v, w)
        assert_array(learner.cosine_similarity(1e-5 * v, 1e-5 * w), expected, terms=6)

    @pytest.mark.edges
    def test_zero_vector(self, learner, rng):
        zero, v = np.zeros(5), rng.normal(size=5)
        assert_array(learner.cosine_similarity(v, zero), 0.0)
        assert_array(learner.cosine_similarity(zero, zero), 0.0)

    @pytest.mark.refusals
    def test_different_lengths_are_refused(self, learner, rng):
        with pytest.raises(ValueError):
            learner.cosine_similarity(rng.normal(size=4), rng.normal(size=1))


@pytest.mark.criterion("one-hot")
class TestOneHot:
    def test_random_vector_of_indices(self, learner, rng):
        depth = int(rng.integers(4, 9))
        indices = rng.integers(0, depth, 11)
        expected = oracles.hot_rows(indices, depth)
        assert_array(learner.one_hot(indices, depth), expected)

    def test_table_of_indices(self, learner, rng):
        indices = rng.integers(0, 5, (3, 4))
        expected = oracles.hot_rows(indices, 5)
        assert_array(learner.one_hot(indices, 5), expected)

    def test_single_index(self, learner):
        assert_array(learner.one_hot(2, 4), np.array([0.0, 0.0, 1.0, 0.0]))

    @pytest.mark.dtype
    def test_rows_are_floats(self, learner, rng):
        for indices in (rng.integers(0, 5, 4), 2):
            kind = plain_array(learner.one_hot(indices, 5)).dtype.kind
            assert_equal(kind, "f", name="the kind of dtype of the rows, f for floats")

    @pytest.mark.edges
    def test_no_indices(self, learner):
        assert_array(learner.one_hot(np.zeros(0, dtype=np.int64), 3), np.zeros((0, 3)))

    @pytest.mark.refusals
    def test_negative_index_is_refused(self, learner, rng):
        with pytest.raises(ValueError):
            learner.one_hot(np.array([0, int(rng.integers(-4, 0)), 3]), 4)

    @pytest.mark.refusals
    def test_index_beyond_the_depth_is_refused(self, learner, rng):
        with pytest.raises(ValueError):
            learner.one_hot(np.array([[0, 1], [int(rng.integers(4, 8)), 2]]), 4)
