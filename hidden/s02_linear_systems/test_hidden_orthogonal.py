"""Hidden tests of stage s02: orthonormal columns and least squares, well and ill conditioned."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_shape, plain_array, unchanged
from hidden.s02_linear_systems.oracles import (
    dependent_but_for_rounding,
    dependent_columns,
    exact_least_squares,
    exact_qr,
    polynomial_columns,
    same_signs,
    triangular,
    unpack,
    well_conditioned,
    with_singular_values,
)

pytestmark = pytest.mark.values
LIMIT_OF_12 = 10 * 12 * np.finfo(np.float64).eps  # for two columns of length 1 with 12 rows

ROUNDING = 1e-12  # what a stable method leaves, times a hundred and more; Gram-Schmidt once leaves 1e-4 below


def decomposed(learner, A):
    """Return Q and R of a learner's decomposition once their shapes are right."""
    with unchanged(A):
        Q, R = unpack(learner.qr_decomposition(A), "Q", "R")
    assert_shape(Q, A.shape, name="Q")
    assert_shape(R, (A.shape[1], A.shape[1]), name="R")
    return Q, R


def check_rounding(A, Q, R):
    """Assert Q's orthonormal columns, R's triangle, and A = Q R, all within what a stable method leaves."""
    n = A.shape[1]
    assert_array(Q.T @ Q, np.eye(n), name="Q.T @ Q", rtol=0.0, atol=ROUNDING)
    assert_array(np.tril(R, -1), np.zeros((n, n)), name="R below its diagonal", atol=ROUNDING)
    assert_array(Q @ R, A, name="Q @ R", rtol=0.0, atol=ROUNDING * np.abs(A).max())


@pytest.mark.criterion("qr-decomposition")
class TestQrDecomposition:
    @pytest.mark.parametrize(("m", "n"), [(4, 4), (6, 3), (5, 1), (1, 1)])
    def test_random_shapes(self, learner, rng, m, n):
        A = well_conditioned(rng, m, n)
        Q, R = decomposed(learner, A)
        expected = exact_qr(A)
        for name, factor, right in zip("QR", same_signs(Q, R), expected, strict=True):
            assert_array(factor, right, name=f"{name}, signs chosen so that R's diagonal is positive")

    def test_what_is_triangular_already(self, learner, rng):
        A = np.triu(triangular(rng, 4))
        Q, R = decomposed(learner, A)
        check_rounding(A, Q, R)

    def test_a_zero_in_the_corner(self, learner, rng):
        A = well_conditioned(rng, 4, 3)
        A[0, 0] = 0.0
        Q, R = decomposed(learner, A)
        check_rounding(A, Q, R)

    @pytest.mark.dtype
    def test_integers_become_floats_in_both(self, learner, rng):
        A = rng.integers(1, 6, size=(5, 3)) + 9 * np.eye(5, 3, dtype=np.int64)
        Q, R = decomposed(learner, A)
        for name, factor, right in zip("QR", same_signs(Q, R), exact_qr(A), strict=True):
            assert_array(factor, right, name=name, dtype="float64")

    @pytest.mark.dtype
    def test_single_precision_stays_in_Q_and_R(self, learner, rng):
        A = well_conditioned(rng, 5, 3).astype(np.float32)
        Q, R = decomposed(learner, A)
        assert_array(Q.T @ Q, np.eye(3), name="Q.T @ Q", rtol=1e-4, dtype="float32")
        assert_array(Q @ R, A, name="Q @ R", rtol=1e-4, dtype="float32")

    @pytest.mark.edges
    def test_dependent_columns_leave_a_zero_on_the_diagonal(self, learner, rng):
        A = dependent_columns(rng, 6, 3)
        Q, R = decomposed(learner, A)
        assert_array(Q @ R, A, name="Q @ R")
        assert_array(R[2, 2], 0.0, name="R[2, 2]", atol=1e-9)

    @pytest.mark.edges
    def test_a_column_of_zeros_makes_no_nan(self, learner, rng):
        A = well_conditioned(rng, 5, 3)
        A[:, 1] = 0.0
        Q, R = decomposed(learner, A)
        assert_array(Q @ R, A, name="Q @ R")
        assert_array(R[:, 1], np.zeros(3), name="R[:, 1]")

    @pytest.mark.edges
    def test_small_columns_are_not_taken_for_zeros(self, learner, rng):
        A = well_conditioned(rng, 5, 3)
        Q, R = decomposed(learner, 1e-20 * A)
        for name, factor, right in zip("QR", same_signs(Q, 1e20 * R), exact_qr(A), strict=True):
            scaled = " times 1e20" if name == "R" else ""
            assert_array(factor, right, name=f"{name}{scaled}, signs chosen so that R's diagonal is positive")

    @pytest.mark.refusals
    def test_fewer_rows_than_columns_are_refused(self, learner, rng):
        for shape in [(3, 4), (1, 2), (4,), (4, 3, 2), (3, 3, 3)]:
            with pytest.raises(ValueError):
                learner.qr_decomposition(rng.normal(size=shape))


@pytest.mark.criterion("qr-stability")
@pytest.mark.edges
class TestQrStability:
    @pytest.mark.parametrize(("m", "n"), [(6, 6), (9, 5)])
    def test_columns_that_nearly_depend_on_one_another(self, learner, rng, m, n):
        """Condition 1e12: a stable method stays near 1e-15, modified Gram-Schmidt loses four digits and more."""
        A = with_singular_values(rng, m, n, 10.0 ** -np.linspace(0.0, 12.0, n))
        check_rounding(A, *decomposed(learner, A))

    def test_powers_of_points_from_a_short_interval(self, learner, rng):
        A = polynomial_columns(np.sort(rng.uniform(0.9, 1.1, size=9)), 5)
        check_rounding(A, *decomposed(learner, A))

    def test_a_column_close_to_the_first_axis(self, learner, rng):
        A = rng.normal(size=(5, 3))
        A[:, 0] = 1e-8 * rng.uniform(1.0, 2.0, size=5)
        A[0, 0] = 1.0
        check_rounding(A, *decomposed(learner, A))
        check_rounding(-A, *decomposed(learner, -A))

    def test_columns_of_very_different_size(self, learner, rng):
        A = well_conditioned(rng, 5, 3)
        Q, R = decomposed(learner, A * np.array([1e-9, 1.0, 1e9]))
        check_rounding(A, Q, R / np.array([1e-9, 1.0, 1e9]))


@pytest.mark.criterion("least-squares")
class TestLeastSquares:
    @pytest.mark.parametrize(("m", "n"), [(5, 3), (8, 4), (4, 4), (6, 1)])
    def test_random_problems(self, learner, rng, m, n):
        A, b = well_conditioned(rng, m, n), rng.normal(size=m)
        with unchanged(A, b):
            x = learner.least_squares(A, b)
        assert_array(x, exact_least_squares(A, b))

    @pytest.mark.parametrize("columns", [1, 2])
    def test_several_problems_at_once(self, learner, rng, columns):
        A, b = well_conditioned(rng, 6, 3), rng.normal(size=(6, columns))
        with unchanged(A, b):
            x = learner.least_squares(A, b)
        assert_array(x, exact_least_squares(A, b))

    @pytest.mark.dtype
    def test_integer_data(self, learner, rng):
        A = rng.integers(1, 6, size=(6, 3)) + 9 * np.eye(6, 3, dtype=np.int64)
        b = rng.integers(-9, 10, size=6)
        assert_array(learner.least_squares(A, b), exact_least_squares(A, b), dtype="float64")

    @pytest.mark.dtype
    def test_single_precision_stays_in_the_estimate(self, learner, rng):
        A, b = well_conditioned(rng, 6, 3).astype(np.float32), rng.normal(size=6).astype(np.float32)
        assert_array(learner.least_squares(A, b), exact_least_squares(A, b), rtol=1e-3, dtype="float32")

    @pytest.mark.refusals
    @pytest.mark.parametrize("size", [1.0, 1e9, 1e-9])
    def test_columns_that_depend_on_others_are_refused(self, learner, rng, size):
        for m, n in [(6, 3), (7, 4)]:
            with pytest.raises(ValueError):
                learner.least_squares(size * dependent_columns(rng, m, n), rng.normal(size=m))

    @pytest.mark.refusals
    def test_the_limit_of_single_precision_is_a_larger_one(self, learner, rng):
        for A in (np.diag([1e9, 1e9, 1e-7]), *(dependent_but_for_rounding(rng, 8, 5) for _ in range(8))):
            with pytest.raises(ValueError):
                learner.least_squares(A, rng.normal(size=len(A)).astype(A.dtype))

    @pytest.mark.refusals
    def test_a_column_of_zeros_is_refused(self, learner, rng):
        for column in range(3):
            A = well_conditioned(rng, 5, 3)
            A[:, column] = 0.0
            with pytest.raises(ValueError):
                learner.least_squares(A, rng.normal(size=5))

    @pytest.mark.refusals
    def test_the_limit_counts_rows(self, learner, rng):
        """A third of 10 m eps |A| is refused."""
        A, b = np.eye(12, 2), rng.normal(size=12)
        A[1, 1] = LIMIT_OF_12 / 3
        with pytest.raises(ValueError):
            learner.least_squares(A, b)

    @pytest.mark.edges
    def test_three_times_the_limit_is_not_refused(self, learner, rng):
        A, b = np.eye(12, 2), rng.normal(size=12)
        A[1, 1] = 3 * LIMIT_OF_12
        assert_array(A[:2] @ plain_array(learner.least_squares(A, b)), b[:2])

    @pytest.mark.refusals
    def test_any_entry_of_the_diagonal_may_be_the_small_one(self, learner, rng):
        for place in (2, 0, 1):
            A = np.vstack([np.triu(triangular(rng, 3)), np.zeros((3, 3))])
            A[place, place] = 1e-17
            with pytest.raises(ValueError):
                learner.least_squares(A, rng.normal(size=6))

    @pytest.mark.edges
    def test_small_data_are_as_good_as_any(self, learner, rng):
        A, b = well_conditioned(rng, 5, 3), rng.normal(size=5)
        assert_array(1e-12 * plain_array(learner.least_squares(1e-12 * A, b)), exact_least_squares(A, b))

    @pytest.mark.refusals
    def test_problems_whose_shapes_do_not_fit_are_refused(self, learner, rng):
        for A, b in [((3, 4), 3), ((4,), 4), ((4, 3, 2), 4), ((5, 3), 3), ((5, 3), 6), ((5, 3), (1, 5))]:
            with pytest.raises(ValueError):
                learner.least_squares(rng.normal(size=A), rng.normal(size=b))
        for b in [(5, 2, 2), (2, 5, 2), 1]:
            with pytest.raises(ValueError):
                learner.least_squares(rng.normal(size=(5, 3)), rng.normal(size=b))


@pytest.mark.criterion("least-squares-stability")
@pytest.mark.edges
class TestLeastSquaresStability:
    """Condition numbers of 1e6 and more: QR leaves 1e-9 of x, the normal equations 1e-5, or call it singular."""

    def test_nearly_dependent_columns(self, learner, rng):
        A, x = with_singular_values(rng, 9, 4, [1.0, 0.3, 1e-2, 1e-6]), rng.uniform(1.0, 2.0, size=4)
        b = A @ x
        assert_array(learner.least_squares(A, b), exact_least_squares(A, b), rtol=0.0, atol=1e-7)

    def test_columns_that_differ_in_single_entries(self, learner, rng):
        small, other = 1e-6 * rng.uniform(1.0, 2.0, size=2)
        A = np.array([[1.0, 1.0], [small, 0.0], [0.0, other]])
        b = A @ rng.uniform(1.0, 2.0, size=2)
        assert_array(learner.least_squares(A, b), exact_least_squares(A, b), rtol=0.0, atol=1e-7)

    def test_polynomial_on_a_short_interval(self, learner, rng):
        A, x = polynomial_columns(np.linspace(0.8, 1.2, 12), 5), rng.uniform(1.0, 2.0, size=6)
        b = A @ x
        assert_array(learner.least_squares(A, b), exact_least_squares(A, b), rtol=0.0, atol=1e-7)

    def test_nearly_dependent_columns_with_several_right_hand_sides(self, learner, rng):
        A, x = with_singular_values(rng, 7, 3, [2.0, 1.0, 5e-7]), rng.uniform(1.0, 2.0, size=(3, 2))
        b = A @ x
        assert_array(learner.least_squares(A, b), exact_least_squares(A, b), rtol=0.0, atol=1e-7)
