"""Public tests of stage s02: small examples with the numbers written out."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_shape

pytestmark = pytest.mark.values

SYSTEM = np.array([[1.0, 2.0, 0.0], [4.0, 4.0, 4.0], [2.0, 0.0, 5.0]])  # of the README
COLLINEAR = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])  # row 1 + row 3 = 2 row 2


def unpack(result, *names):
    """Return the values of a tuple; a failure that names them if it is none or has another length."""
    if not isinstance(result, (tuple, list)) or len(result) != len(names):
        got = f"{len(result)} values" if isinstance(result, (tuple, list)) else f"one {type(result).__name__}"
        raise AssertionError(f"expected the {len(names)} values ({', '.join(names)}), got {got}")
    return result


def hilbert(rows, columns):
    """1 / (i + j - 1), counted from 1: columns that nearly depend on one another."""
    return 1.0 / (np.arange(rows)[:, None] + np.arange(columns) + 1.0)


@pytest.mark.criterion("forward-substitution")
class TestForwardSubstitution:
    def test_two_unknowns(self, learner):
        L = np.array([[2.0, 0.0], [1.0, 4.0]])
        assert_array(learner.forward_substitution(L, np.array([6.0, 11.0])), [3.0, 2.0])  # (11 - 3) / 4

    def test_three_unknowns(self, learner):
        L = np.array([[1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.25, -0.5, 2.0]])
        assert_array(learner.forward_substitution(L, np.array([4.0, 3.0, 8.5])), [4.0, 1.0, 4.0])

    def test_each_column_of_b_is_a_system(self, learner):
        L = np.array([[2.0, 0.0], [1.0, 4.0]])
        result = learner.forward_substitution(L, np.array([[6.0, 2.0, 0.0], [11.0, 1.0, 8.0]]))
        assert_array(result, [[3.0, 1.0, 0.0], [2.0, 0.0, 2.0]])

    @pytest.mark.refusals
    def test_zero_on_the_diagonal_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.forward_substitution(np.array([[2.0, 0.0], [1.0, 0.0]]), np.array([6.0, 11.0]))


@pytest.mark.criterion("backward-substitution")
class TestBackwardSubstitution:
    def test_two_unknowns_from_the_last(self, learner):
        U = np.array([[2.0, 1.0], [0.0, 4.0]])
        assert_array(learner.backward_substitution(U, np.array([7.0, 12.0])), [2.0, 3.0])  # 12 / 4, then (7 - 3) / 2

    def test_three_unknowns_from_the_last(self, learner):
        U = np.array([[4.0, 4.0, 4.0], [0.0, -2.0, 3.0], [0.0, 0.0, 0.5]])
        assert_array(learner.backward_substitution(U, np.array([24.0, 5.0, 1.5])), [1.0, 2.0, 3.0])

    @pytest.mark.refusals
    def test_zero_on_the_diagonal_of_U_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.backward_substitution(np.array([[0.0, 1.0], [0.0, 4.0]]), np.array([7.0, 12.0]))


@pytest.mark.criterion("lu-decomposition")
class TestLuDecomposition:
    def test_rows_are_swapped_and_cleared(self, learner):
        P, L, U = unpack(learner.lu_decomposition(np.array([[1.0, 2.0], [4.0, 4.0]])), "P", "L", "U")
        assert_array(P, [[0.0, 1.0], [1.0, 0.0]], name="P")
        assert_array(L, [[1.0, 0.0], [0.25, 1.0]], name="L")
        assert_array(U, [[4.0, 4.0], [0.0, 1.0]], name="U")

    def test_three_rows_in_turn(self, learner):
        P, L, U = unpack(learner.lu_decomposition(SYSTEM), "P", "L", "U")
        assert_array(P, [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], name="P")
        assert_array(L, [[1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.25, -0.5, 1.0]], name="L")
        assert_array(U, [[4.0, 4.0, 4.0], [0.0, -2.0, 3.0], [0.0, 0.0, 0.5]], name="U")

    def test_zero_in_the_corner_needs_a_swap(self, learner):
        P, L, U = unpack(learner.lu_decomposition(np.array([[0.0, 2.0], [3.0, 6.0]])), "P", "L", "U")
        assert_array(P, [[0.0, 1.0], [1.0, 0.0]], name="P")
        assert_array(L, [[1.0, 0.0], [0.0, 1.0]], name="L")
        assert_array(U, [[3.0, 6.0], [0.0, 2.0]], name="U")


@pytest.mark.criterion("pivoting")
class TestPivoting:
    @pytest.mark.edges
    def test_a_tiny_pivot_is_swapped_away(self, learner):
        P, L, U = unpack(learner.lu_decomposition(np.array([[1e-20, 1.0], [1.0, 1.0]])), "P", "L", "U")
        assert_array(P, [[0.0, 1.0], [1.0, 0.0]], name="P")
        assert_array(L, [[1.0, 0.0], [0.0, 1.0]], name="L")
        assert_array(U, [[1.0, 1.0], [0.0, 1.0]], name="U")

    def test_largest_absolute_value_in_the_column(self, learner):
        A = np.array([[1.0, 8.0], [-4.0, 2.0]])  # -4 is larger than 1 in absolute value; 8 is in another column
        P, L, U = unpack(learner.lu_decomposition(A), "P", "L", "U")
        assert_array(P, [[0.0, 1.0], [1.0, 0.0]], name="P")
        assert_array(L, [[1.0, 0.0], [-0.25, 1.0]], name="L")
        assert_array(U, [[-4.0, 2.0], [0.0, 8.5]], name="U")


@pytest.mark.criterion("solve")
class TestSolve:
    def test_three_equations(self, learner):
        assert_array(learner.solve(SYSTEM, np.array([5.0, 24.0, 17.0])), [1.0, 2.0, 3.0])

    def test_two_right_hand_sides_at_once(self, learner):
        b = np.array([[5.0, 1.0], [24.0, 4.0], [17.0, 2.0]])
        assert_array(learner.solve(SYSTEM, b), [[1.0, 1.0], [2.0, 0.0], [3.0, 0.0]])

    @pytest.mark.refusals
    def test_matrix_that_is_not_square_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.solve(np.ones((2, 3)), np.ones(2))


@pytest.mark.criterion("singular-systems")
class TestSingularSystems:
    @pytest.mark.edges
    def test_second_row_is_twice_the_first(self, learner):
        with pytest.raises(ValueError):
            learner.solve(np.array([[1.0, 2.0], [2.0, 4.0]]), np.array([3.0, 6.0]))

    @pytest.mark.edges
    def test_rounding_leaves_a_pivot_that_is_not_quite_zero(self, learner):
        with pytest.raises(ValueError):  # the last pivot comes out as 1.1e-16
            learner.solve(COLLINEAR, np.array([6.0, 15.0, 24.0]))

    @pytest.mark.edges
    def test_small_numbers_are_not_singular(self, learner):
        A = np.array([[1e-9, 0.0], [0.0, 2e-9]])
        assert_array(learner.solve(A, np.array([3e-9, 4e-9])), [3.0, 2.0])


@pytest.mark.criterion("determinant")
class TestDeterminant:
    def test_two_rows(self, learner):
        assert_array(learner.determinant(np.array([[1.0, 2.0], [4.0, 4.0]])), -4.0)  # 4 - 8

    def test_three_rows(self, learner):
        assert_array(learner.determinant(SYSTEM), -4.0)  # two swaps, pivots 4, -2 and 0.5

    def test_one_swap_of_three_rows(self, learner):
        assert_array(learner.determinant(SYSTEM[[1, 0, 2]]), 4.0)  # pivots 4, -2 and 0.5, one swap

    def test_no_swap_and_a_negative_pivot(self, learner):
        assert_array(learner.determinant(np.array([[4.0, 4.0], [1.0, -2.0]])), -12.0)

    @pytest.mark.edges
    def test_singular_matrix_has_determinant_zero(self, learner):
        assert_array(learner.determinant(np.array([[1.0, 2.0], [2.0, 4.0]])), 0.0)
        assert_array(learner.determinant(COLLINEAR), 0.0)

    @pytest.mark.edges
    def test_small_is_not_zero(self, learner):
        assert_array(learner.determinant(0.01 * np.eye(8)), 1e-16, rtol=1e-9)


@pytest.mark.criterion("inverse")
class TestInverse:
    def test_two_rows_inverted(self, learner):
        assert_array(learner.inverse(np.array([[1.0, 2.0], [4.0, 4.0]])), [[-1.0, 0.5], [1.0, -0.25]])

    def test_inverse_of_three_rows(self, learner):
        expected = [[-5.0, 2.5, -2.0], [3.0, -1.25, 1.0], [2.0, -1.0, 1.0]]
        assert_array(learner.inverse(SYSTEM), expected)

    @pytest.mark.edges
    def test_a_small_determinant_is_no_obstacle(self, learner):
        assert_array(learner.inverse(0.01 * np.eye(8)), 100.0 * np.eye(8))

    @pytest.mark.refusals
    def test_singular_matrix_has_no_inverse(self, learner):
        with pytest.raises(ValueError):
            learner.inverse(COLLINEAR)


@pytest.mark.criterion("qr-decomposition")
class TestQrDecomposition:
    def test_square_matrix(self, learner):
        Q, R = unpack(learner.qr_decomposition(np.array([[3.0, 1.0], [4.0, 3.0]])), "Q", "R")
        assert_shape(Q, (2, 2), name="Q")
        assert_shape(R, (2, 2), name="R")
        assert_array(np.abs(Q), [[0.6, 0.8], [0.8, 0.6]], name="Q without signs")
        assert_array(np.abs(R), [[5.0, 3.0], [0.0, 1.0]], name="R without signs")
        assert_array(Q @ R, [[3.0, 1.0], [4.0, 3.0]], name="Q @ R")

    def test_more_rows_than_columns(self, learner):
        A = np.array([[1.0, 2.0], [2.0, 1.0], [2.0, -5.0]])
        Q, R = unpack(learner.qr_decomposition(A), "Q", "R")
        assert_shape(Q, (3, 2), name="Q")
        assert_shape(R, (2, 2), name="R")
        assert_array(np.abs(R), [[3.0, 2.0], [0.0, np.sqrt(26.0)]], name="R without signs")
        assert_array(Q.T @ Q, np.eye(2), name="Q.T @ Q")
        assert_array(Q @ R, A, name="Q @ R")

    @pytest.mark.refusals
    def test_more_columns_than_rows_are_refused(self, learner):
        with pytest.raises(ValueError):
            learner.qr_decomposition(np.ones((2, 3)))


@pytest.mark.criterion("qr-stability")
@pytest.mark.edges
class TestQrStability:
    def test_hilbert_matrix_keeps_its_columns_orthonormal(self, learner):
        A = hilbert(10, 8)  # condition number 4e9
        Q, R = unpack(learner.qr_decomposition(A), "Q", "R")
        assert_shape(Q, (10, 8), name="Q")
        assert_shape(R, (8, 8), name="R")
        assert_array(Q.T @ Q, np.eye(8), name="Q.T @ Q", rtol=0.0, atol=1e-12)
        assert_array(Q @ R, A, name="Q @ R", rtol=0.0, atol=1e-12)


@pytest.mark.criterion("least-squares")
class TestLeastSquares:
    def test_line_through_three_points(self, learner):
        A = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])  # intercept and slope at t = 0, 1, 2
        assert_array(learner.least_squares(A, np.array([1.0, 2.0, 6.0])), [0.5, 2.5])

    def test_square_system_is_solved(self, learner):
        assert_array(learner.least_squares(SYSTEM, np.array([5.0, 24.0, 17.0])), [1.0, 2.0, 3.0])

    @pytest.mark.refusals
    def test_dependent_columns_are_refused(self, learner):
        with pytest.raises(ValueError):
            learner.least_squares(np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]), np.array([1.0, 2.0, 4.0]))


@pytest.mark.criterion("least-squares-stability")
@pytest.mark.edges
class TestLeastSquaresStability:
    def test_nearly_parallel_columns(self, learner):
        A = np.array([[1.0, 1.0], [1e-8, 0.0], [0.0, 1e-8]])  # the squares of 1e-8 are lost beside 1
        assert_array(learner.least_squares(A, np.array([2.0, 1e-8, 1e-8])), [1.0, 1.0], rtol=0.0, atol=1e-6)

    def test_columns_a_millionth_apart(self, learner):
        A = np.array([[1.0, 1.0], [1e-6, 0.0], [0.0, 1e-6]])  # of 1e-12, the normal equations keep four digits
        assert_array(learner.least_squares(A, np.array([1.0, 2e-6, -1e-6])), [2.0, -1.0], rtol=0.0, atol=1e-7)

    def test_polynomial_of_degree_seven(self, learner):
        A = (np.arange(12) / 11.0)[:, None] ** np.arange(8)
        weights = np.array([1.0, -2.0, 3.0, -4.0, 4.0, -3.0, 2.0, -1.0])
        assert_array(learner.least_squares(A, A @ weights), weights, rtol=0.0, atol=1e-7)


@pytest.mark.criterion("power-iteration")
class TestPowerIteration:
    def test_symmetric_matrix(self, learner):
        result = learner.power_iteration(np.array([[2.0, 1.0], [1.0, 2.0]]), rng=np.random.default_rng(0))
        value, vector = unpack(result, "eigenvalue", "eigenvector")
        assert_array(value, 3.0, name="eigenvalue")
        assert_shape(vector, (2,), name="eigenvector")
        assert_array(vector * np.sign(vector[0]), np.sqrt([0.5, 0.5]), name="eigenvector", rtol=0.0, atol=1e-8)

    def test_dominant_eigenvalue_may_be_negative(self, learner):
        result = learner.power_iteration(np.array([[-4.0, 2.0], [2.0, -1.0]]), rng=np.random.default_rng(1))
        value, vector = unpack(result, "eigenvalue", "eigenvector")
        assert_array(value, -5.0, name="eigenvalue")
        assert_shape(vector, (2,), name="eigenvector")
        expected = [np.sqrt(0.8), -np.sqrt(0.2)]
        assert_array(vector * np.sign(vector[0]), expected, name="eigenvector", rtol=0.0, atol=1e-8)

    def test_start_is_not_a_special_direction(self, learner):
        result = learner.power_iteration(np.array([[2.0, -1.0], [-1.0, 2.0]]), rng=np.random.default_rng(2))
        assert_array(unpack(result, "eigenvalue", "eigenvector")[0], 3.0, name="eigenvalue")  # [1, 1] belongs to 1


@pytest.mark.criterion("low-rank-approximation")
class TestLowRankApproximation:
    def test_smaller_singular_value_goes(self, learner):
        result = learner.low_rank_approximation(np.array([[3.0, 0.0], [0.0, 1.0]]), 1)
        assert_array(result, [[3.0, 0.0], [0.0, 0.0]])

    def test_columns_are_replaced_by_their_common_direction(self, learner):
        A = np.array([[4.0, 0.0], [3.0, -5.0]])  # singular values sqrt 40 and sqrt 10
        assert_array(learner.low_rank_approximation(A, 1), [[2.0, -2.0], [4.0, -4.0]])

    def test_full_rank_gives_the_matrix_back(self, learner):
        A = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])
        assert_array(learner.low_rank_approximation(A, 2), A)

    @pytest.mark.refusals
    def test_rank_beyond_the_shape_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.low_rank_approximation(np.ones((2, 3)), 3)
