"""Hidden tests of stage s02: rows with pivots, against elimination in fractions."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_shape, unchanged
from hidden.s02_linear_systems.oracles import (
    exact_lu,
    unpack,
    well_conditioned,
)

pytestmark = pytest.mark.values


def decomposed(learner, A):
    """Return P, L and U of a learner's decomposition once their shapes and their forms are right."""
    with unchanged(A):
        P, L, U = unpack(learner.lu_decomposition(A), "P", "L", "U")
    n = len(A)
    for name, factor in (("P", P), ("L", L), ("U", U)):
        assert_shape(factor, (n, n), name=name)
    expected = np.zeros((n, n))
    expected[np.arange(n), np.argmax(P, axis=1)] = 1.0
    assert_array(P, expected, name="P")
    assert_array(P.sum(axis=0), np.ones(n), name="the sums of P's columns")
    assert_array(np.triu(L), np.eye(n), name="L on and above its diagonal")
    assert_array(np.tril(U, -1), np.zeros((n, n)), name="U below its diagonal", atol=1e-9 * np.abs(A).max())
    return P, L, U


@pytest.mark.criterion("lu-decomposition")
class TestLuDecomposition:
    @pytest.mark.parametrize("n", [1, 3, 6])
    def test_product_gives_the_rows_back(self, learner, rng, n):
        A = well_conditioned(rng, n)
        P, L, U = decomposed(learner, A)
        assert_array(L @ U, P @ A, name="L @ U")

    def test_rows_go_round_in_a_circle(self, learner, rng):
        dominant = rng.uniform(-1.0, 1.0, size=(5, 5)) + np.diag(rng.uniform(9.0, 12.0, size=5))
        A = np.roll(dominant, 2, axis=0)
        P, L, U = decomposed(learner, A)
        assert_array(P, np.roll(np.eye(5), 2, axis=1), name="P")
        assert_array(L @ U, P @ A, name="L @ U")

    @pytest.mark.dtype
    def test_integers_become_floats(self, learner, rng):
        A = rng.integers(1, 6, size=(4, 4)) + 7 * np.eye(4, dtype=np.int64)[rng.permutation(4)]
        P, L, U = decomposed(learner, A)
        assert_array(L @ U, P @ A.astype(np.float64), name="L @ U", dtype="float64")

    @pytest.mark.dtype
    def test_single_precision_stays_in_both_factors(self, learner, rng):
        A = well_conditioned(rng, 4).astype(np.float32)
        P, L, U = decomposed(learner, A)
        assert_array(np.diagonal(L), np.ones(4), name="the diagonal of L", dtype="float32")
        assert_array(L @ U, P @ A, name="L @ U", rtol=1e-4, dtype="float32")

    @pytest.mark.edges
    def test_a_column_of_zeros_is_left_alone(self, learner, rng):
        A = well_conditioned(rng, 4)
        A[:, 1] = 0.0
        P, L, U = decomposed(learner, A)
        assert_array(U[1, 1], 0.0, name="U[1, 1]")
        assert_array(L @ U, P @ A, name="L @ U")

    @pytest.mark.edges
    def test_the_zero_matrix_is_decomposed_too(self, learner):
        _, _, U = decomposed(learner, np.zeros((3, 3)))
        assert_array(U, np.zeros((3, 3)), name="U")

    @pytest.mark.edges
    def test_small_numbers_are_eliminated_too(self, learner, rng):
        A = 1e-20 * well_conditioned(rng, 4)
        P, L, U = decomposed(learner, A)
        assert_array(L @ U, P @ A, name="L @ U", rtol=0.0, atol=1e-9 * np.abs(A).max())

    @pytest.mark.refusals
    def test_what_is_no_square_matrix_is_not_decomposed(self, learner, rng):
        for shape in [(3, 4), (4, 3), (4,), (2, 3, 3), (3, 3, 3)]:
            with pytest.raises(ValueError):
                learner.lu_decomposition(rng.normal(size=shape))


@pytest.mark.criterion("pivoting")
class TestPivoting:
    @pytest.mark.parametrize("n", [3, 4, 6])
    def test_pivots_are_the_largest_of_their_columns(self, learner, rng, n):
        A = well_conditioned(rng, n)
        for name, factor, expected in zip("PLU", decomposed(learner, A), exact_lu(A), strict=True):
            assert_array(factor, expected, name=name)

    def test_pivots_of_negative_columns(self, learner, rng):
        A = -rng.uniform(1.0, 2.0, size=(4, 4)) - 9.0 * np.eye(4)[rng.permutation(4)]
        for name, factor, expected in zip("PLU", decomposed(learner, A), exact_lu(A), strict=True):
            assert_array(factor, expected, name=name)

    def test_a_zero_in_the_corner_and_more_to_choose(self, learner, rng):
        A = well_conditioned(rng, 6)
        A[0, 0] = 0.0
        A[1, 0] *= 1e-3
        for name, factor, expected in zip("PLU", decomposed(learner, A), exact_lu(A), strict=True):
            assert_array(factor, expected, name=name)

    def test_multipliers_do_not_exceed_one(self, learner, rng):
        A = rng.normal(size=(8, 8)) * 10.0 ** rng.integers(-6, 1, size=(8, 1))
        P, L, U = decomposed(learner, A)
        assert_array(np.maximum(np.abs(L), 1.0), np.ones((8, 8)), name="entries of L above 1 in absolute value")
        assert_array(L @ U, P @ A, name="L @ U")
