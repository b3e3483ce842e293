"""Hidden tests of stage s02: systems, determinants and inverses, and what a singular matrix gives, in fractions."""

import numpy as np
import pytest

from grader.testing import assert_array, plain_array, unchanged
from hidden.s02_linear_systems.oracles import (
    dependent_but_for_rounding,
    dependent_columns,
    exact_determinant,
    exact_solution,
    orthonormal,
    triangular,
    well_conditioned,
    with_singular_values,
)

pytestmark = pytest.mark.values
LIMIT_OF_64 = 10 * 64 * np.finfo(np.float64).eps * np.sqrt(63.0)  # for the identity with a small last entry


@pytest.mark.criterion("solve")
class TestSolve:
    @pytest.mark.parametrize("n", [1, 3, 6])
    def test_random_systems(self, learner, rng, n):
        A, b = well_conditioned(rng, n), rng.normal(size=n)
        with unchanged(A, b):
            x = learner.solve(A, b)
        assert_array(x, exact_solution(A, b))

    @pytest.mark.parametrize("columns", [1, 3])
    def test_random_systems_with_several_right_hand_sides(self, learner, rng, columns):
        A, b = well_conditioned(rng, 5), rng.normal(size=(5, columns))
        with unchanged(A, b):
            x = learner.solve(A, b)
        assert_array(x, exact_solution(A, b))

    def test_zeros_on_the_diagonal_and_rows_in_a_circle(self, learner, rng):
        dominant = rng.uniform(-1.0, 1.0, size=(5, 5)) + np.diag(rng.uniform(9.0, 12.0, size=5))
        A, b = np.roll(dominant, 2, axis=0), rng.normal(size=5)
        A[np.diag_indices(5)] = 0.0
        assert_array(learner.solve(A, b), exact_solution(A, b))

    @pytest.mark.edges
    def test_a_pivot_that_is_tiny(self, learner, rng):
        A, b = well_conditioned(rng, 4), rng.normal(size=4)
        A[0, 0] = 1e-18
        A[1:, 0] = 1.0 + rng.uniform(size=3)
        x = exact_solution(A, b)
        limit = 1e-12 * np.linalg.cond(A) * np.abs(x).max()
        assert_array(learner.solve(A, b), x, rtol=0.0, atol=limit)

    @pytest.mark.dtype
    def test_integers_have_a_fraction_for_an_answer(self, learner, rng):
        A = rng.integers(1, 6, size=(4, 4)) + 20 * np.eye(4, dtype=np.int64)[rng.permutation(4)]
        b = rng.integers(1, 30, size=4)
        assert_array(learner.solve(A, b), exact_solution(A, b), dtype="float64")

    @pytest.mark.dtype
    def test_single_precision_stays_in_the_solution(self, learner, rng):
        A, b = well_conditioned(rng, 4).astype(np.float32), rng.normal(size=4).astype(np.float32)
        assert_array(learner.solve(A, b), exact_solution(A, b), rtol=1e-4, dtype="float32")

    @pytest.mark.refusals
    def test_systems_whose_shapes_do_not_fit_are_refused(self, learner, rng):
        pairs = [((3, 4), 3), ((4, 3), 4), ((4,), 4), ((2, 3, 3), 3), ((3, 3), 2), ((3, 3), 5), ((3, 3), (1, 3))]
        for A, b in [*pairs, ((3, 3), (3, 3, 2)), ((3, 3), (2, 3, 2)), ((3, 3), 1)]:
            with pytest.raises(ValueError):
                learner.solve(rng.normal(size=A), rng.normal(size=b))


@pytest.mark.criterion("singular-systems")
class TestSingularSystems:
    @pytest.mark.edges
    @pytest.mark.parametrize("size", [1.0, 1e9, 1e-9])
    def test_dependent_columns_of_any_size(self, learner, rng, size):
        for n in (3, 4, 5):
            with pytest.raises(ValueError):
                learner.solve(size * dependent_columns(rng, n, n), rng.normal(size=n))

    @pytest.mark.edges
    def test_dependent_columns_in_single_precision(self, learner, rng):
        A = dependent_columns(rng, 4, 4).astype(np.float32)
        with pytest.raises(ValueError):
            learner.solve(A, rng.normal(size=4).astype(np.float32))

    @pytest.mark.edges
    def test_the_limit_of_single_precision_is_a_larger_one(self, learner, rng):
        """One in double precision, where it is smaller; then eight, since rounding may leave an exact zero."""
        for A in (np.diag([1e9, 1e9, 1e-7]), *(dependent_but_for_rounding(rng, 6, 6) for _ in range(8))):
            with pytest.raises(ValueError):
                learner.solve(A, rng.normal(size=len(A)).astype(A.dtype))

    @pytest.mark.edges
    def test_the_same_row_twice(self, learner, rng):
        A = well_conditioned(rng, 4)
        A[2] = A[0]
        with pytest.raises(ValueError):
            learner.solve(A, rng.normal(size=4))

    @pytest.mark.edges
    def test_any_pivot_may_be_the_small_one(self, learner, rng):
        for place in (3, 0, 1, 2):
            A = np.triu(triangular(rng, 4))
            A[place, place] = 1e-17
            with pytest.raises(ValueError):
                learner.solve(A, rng.normal(size=4))

    @pytest.mark.edges
    def test_nothing_but_zeros(self, learner, rng):
        with pytest.raises(ValueError):
            learner.solve(np.zeros((3, 3)), rng.normal(size=3))

    @pytest.mark.edges
    @pytest.mark.parametrize("size", [1e-30, 1e-14, 1e14])
    def test_size_alone_makes_nothing_singular(self, learner, rng, size):
        A, b = well_conditioned(rng, 4), rng.normal(size=4)
        assert_array(size * plain_array(learner.solve(size * A, b)), exact_solution(A, b))

    @pytest.mark.edges
    def test_a_third_of_the_limit_is_refused(self, learner, rng):
        """The limit is 10 n eps |A|; |A| is 8 times the largest entry."""
        A, b = np.eye(64), rng.normal(size=64)
        for part in (1000, 3):
            A[63, 63] = LIMIT_OF_64 / part
            with pytest.raises(ValueError):
                learner.solve(A, b)

    @pytest.mark.edges
    def test_three_times_the_limit_is_not_refused(self, learner, rng):
        A, b = np.eye(64), rng.normal(size=64)
        A[63, 63] = 3 * LIMIT_OF_64
        assert_array(A @ plain_array(learner.solve(A, b)), b)

    @pytest.mark.edges
    def test_one_small_number(self, learner, rng):
        small = float(rng.uniform(1.0, 2.0)) * 1e-9
        assert_array(learner.solve(np.array([[small]]), np.array([3 * small])), [3.0])

    @pytest.mark.edges
    def test_many_small_pivots(self, learner, rng):
        A, b = 0.01 * orthonormal(rng, 8, 8), rng.normal(size=8)
        assert_array(learner.solve(A, b), exact_solution(A, b))

    @pytest.mark.edges
    def test_ill_conditioned_is_not_singular(self, learner, rng):
        A, x = with_singular_values(rng, 4, 4, [1.0, 0.5, 0.1, 1e-9]), rng.normal(size=4)
        assert_array(learner.solve(A, A @ x), x, rtol=0.0, atol=1e-4 * np.abs(x).max())


@pytest.mark.criterion("determinant")
class TestDeterminant:
    @pytest.mark.parametrize("n", [1, 3, 6])
    def test_random_matrices(self, learner, rng, n):
        A = well_conditioned(rng, n)
        with unchanged(A):
            result = learner.determinant(A)
        assert_array(result, exact_determinant(A))

    @pytest.mark.parametrize("shift", [1, 2, 3])
    def test_every_swap_turns_the_sign(self, learner, rng, shift):
        diagonal = rng.uniform(1.0, 2.0, size=4)
        sign = -1.0 if shift != 2 else 1.0  # rows in a circle of four: three swaps; in two pairs: two
        assert_array(learner.determinant(np.roll(np.diag(diagonal), shift, axis=0)), sign * np.prod(diagonal))

    def test_three_rows_in_a_circle_are_two_swaps(self, learner, rng):
        diagonal = rng.uniform(1.0, 2.0, size=4)
        assert_array(learner.determinant(np.diag(diagonal)[[1, 2, 0, 3]]), np.prod(diagonal))

    @pytest.mark.purity
    def test_asked_again_it_is_the_same(self, learner, rng):
        A = np.diag(rng.uniform(1.0, 2.0, size=3))[[1, 0, 2]]
        for name in ("determinant", "determinant of the same matrix, asked for again"):
            assert_array(learner.determinant(A), exact_determinant(A), name=name)

    @pytest.mark.edges
    def test_a_small_pivot_counts(self, learner, rng):
        product = float(rng.uniform(1.0, 2.0))
        assert_array(learner.determinant(np.diag([1e10, 1e-10 * product])), product)

    def test_three_rows_without_a_swap(self, learner, rng):
        A = rng.uniform(-1.0, 1.0, size=(3, 3)) + np.diag(rng.uniform(5.0, 9.0, size=3))
        assert_array(learner.determinant(A), exact_determinant(A))

    @pytest.mark.dtype
    def test_integers_and_single_precision(self, learner, rng):
        A = rng.integers(1, 6, size=(4, 4)) + 9 * np.eye(4, dtype=np.int64)[rng.permutation(4)]
        assert_array(learner.determinant(A), exact_determinant(A))
        single = well_conditioned(rng, 4).astype(np.float32)
        assert_array(learner.determinant(single), exact_determinant(single), rtol=1e-4)

    @pytest.mark.edges
    def test_dependent_columns_span_no_volume(self, learner, rng):
        A = dependent_columns(rng, 4, 4)
        assert_array(learner.determinant(A), 0.0, rtol=0.0, atol=1e-8)
        assert_array(learner.determinant(np.zeros((3, 3))), 0.0)

    @pytest.mark.refusals
    def test_determinant_of_other_shapes_is_refused(self, learner, rng):
        for shape in [(3, 4), (4, 3), (4,), (2, 3, 3), (3, 3, 3)]:
            with pytest.raises(ValueError):
                learner.determinant(rng.normal(size=shape))


@pytest.mark.criterion("inverse")
class TestInverse:
    @pytest.mark.parametrize("n", [1, 3, 5])
    def test_random_inverses(self, learner, rng, n):
        A = well_conditioned(rng, n)
        with unchanged(A):
            result = learner.inverse(A)
        assert_array(result, exact_solution(A, np.eye(n)))

    def test_rows_that_have_to_be_swapped(self, learner, rng):
        A = np.roll(rng.uniform(-1.0, 1.0, size=(5, 5)) + 10.0 * np.eye(5), 2, axis=0)
        assert_array(learner.inverse(A), exact_solution(A, np.eye(5)))

    @pytest.mark.dtype
    def test_inverse_of_integers_is_not_rounded(self, learner, rng):
        A = rng.integers(1, 6, size=(4, 4)) + 20 * np.eye(4, dtype=np.int64)[rng.permutation(4)]
        assert_array(learner.inverse(A), exact_solution(A, np.eye(4)), dtype="float64")

    @pytest.mark.dtype
    def test_single_precision_stays_in_the_inverse(self, learner, rng):
        A = well_conditioned(rng, 4).astype(np.float32)
        assert_array(learner.inverse(A), exact_solution(A, np.eye(4)), rtol=1e-4, dtype="float32")

    @pytest.mark.edges
    @pytest.mark.parametrize("size", [1e-30, 1e-15, 1e15])
    def test_size_alone_is_no_obstacle(self, learner, rng, size):
        A = well_conditioned(rng, 4)
        assert_array(size * plain_array(learner.inverse(size * A)), exact_solution(A, np.eye(4)))

    @pytest.mark.refusals
    def test_dependent_columns_have_no_inverse(self, learner, rng):
        for A in (dependent_columns(rng, 4, 4), 1e9 * dependent_columns(rng, 4, 4), np.zeros((2, 2))):
            with pytest.raises(ValueError):
                learner.inverse(A)

    @pytest.mark.refusals
    def test_the_limit_of_single_precision_is_a_larger_one(self, learner, rng):
        for A in (np.diag([1e9, 1e9, 1e-7]), *(dependent_but_for_rounding(rng, 6, 6) for _ in range(8))):
            with pytest.raises(ValueError):
                learner.inverse(A)

    @pytest.mark.refusals
    def test_inverse_of_other_shapes_is_refused(self, learner, rng):
        for shape in [(3, 4), (4, 3), (4,), (2, 3, 3), (3, 3, 3)]:
            with pytest.raises(ValueError):
                learner.inverse(rng.normal(size=shape))
