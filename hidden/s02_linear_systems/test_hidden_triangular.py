"""Hidden tests of stage s02: triangular systems."""

import numpy as np
import pytest

from grader.testing import assert_array, plain_array, unchanged
from hidden.s02_linear_systems.oracles import exact_solution, triangular

pytestmark = pytest.mark.values


@pytest.mark.criterion("forward-substitution")
class TestForwardSubstitution:
    def test_random_lower_systems(self, learner, rng):
        n = int(rng.integers(4, 8))
        L, b = np.tril(triangular(rng, n)), rng.normal(size=n)
        with unchanged(L, b):
            x = learner.forward_substitution(L, b)
        assert_array(x, exact_solution(L, b))

    @pytest.mark.parametrize("columns", [1, 3])
    def test_several_lower_systems_at_once(self, learner, rng, columns):
        L, b = np.tril(triangular(rng, 4)), rng.normal(size=(4, columns))
        with unchanged(L, b):
            x = learner.forward_substitution(L, b)
        assert_array(x, exact_solution(L, b))

    @pytest.mark.edges
    def test_what_stands_above_the_diagonal_counts_as_zero(self, learner, rng):
        matrix, b = triangular(rng, 5), rng.normal(size=5)
        assert_array(learner.forward_substitution(matrix, b), exact_solution(np.tril(matrix), b))
        matrix[np.triu_indices(5, 1)] = np.nan
        x = learner.forward_substitution(matrix, b)
        assert_array(x, exact_solution(np.tril(matrix), b), name="result with NaN above the diagonal")

    @pytest.mark.edges
    @pytest.mark.parametrize("size", [1e-9, 1e-30])
    def test_small_numbers_on_the_lower_diagonal_are_no_zeros(self, learner, rng, size):
        matrix, b = np.tril(triangular(rng, 4)), rng.normal(size=4)
        assert_array(size * plain_array(learner.forward_substitution(size * matrix, b)), exact_solution(matrix, b))

    @pytest.mark.dtype
    def test_integers_become_floats_below(self, learner, rng):
        L = np.tril(rng.integers(1, 5, size=(4, 4))) + 2 * np.eye(4, dtype=np.int64)
        b = rng.integers(1, 30, size=4)
        assert_array(learner.forward_substitution(L, b), exact_solution(L, b), dtype="float64")

    @pytest.mark.dtype
    def test_single_precision_stays_below(self, learner, rng):
        L, b = np.tril(triangular(rng, 4)).astype(np.float32), rng.normal(size=4).astype(np.float32)
        assert_array(learner.forward_substitution(L, b), exact_solution(L, b), dtype="float32")

    @pytest.mark.refusals
    def test_any_zero_of_the_lower_diagonal_is_refused(self, learner, rng):
        for place in range(3):
            L = np.tril(triangular(rng, 3))
            L[place, place] = 0.0
            with pytest.raises(ValueError):
                learner.forward_substitution(L, rng.normal(size=3))

    @pytest.mark.refusals
    def test_lower_matrices_that_are_not_square_are_refused(self, learner, rng):
        for matrix, b in [((3, 4), 3), ((4, 3), 4), ((4,), 4), ((2, 3, 3), 2), ((3, 3, 3), 3)]:
            with pytest.raises(ValueError):
                learner.forward_substitution(rng.uniform(1.0, 2.0, size=matrix), rng.normal(size=b))

    @pytest.mark.refusals
    def test_lower_right_hand_sides_of_other_lengths_are_refused(self, learner, rng):
        for rows in (1, 2, 5):
            with pytest.raises(ValueError):
                learner.forward_substitution(rng.uniform(1.0, 2.0, size=(3, 3)), rng.normal(size=rows))

    @pytest.mark.refusals
    def test_lower_right_hand_sides_of_other_axes_are_refused(self, learner, rng):
        for shape in [(3, 2, 2), (3, 3, 3), ()]:
            with pytest.raises(ValueError):
                learner.forward_substitution(np.tril(triangular(rng, 3)), np.array(rng.normal(size=shape)))


@pytest.mark.criterion("backward-substitution")
class TestBackwardSubstitution:
    def test_random_upper_systems(self, learner, rng):
        n = int(rng.integers(4, 8))
        U, b = np.triu(triangular(rng, n)), rng.normal(size=n)
        with unchanged(U, b):
            x = learner.backward_substitution(U, b)
        assert_array(x, exact_solution(U, b))

    @pytest.mark.parametrize("columns", [1, 3])
    def test_several_upper_systems_at_once(self, learner, rng, columns):
        U, b = np.triu(triangular(rng, 4)), rng.normal(size=(4, columns))
        with unchanged(U, b):
            x = learner.backward_substitution(U, b)
        assert_array(x, exact_solution(U, b))

    @pytest.mark.edges
    def test_what_stands_below_the_diagonal_counts_as_zero(self, learner, rng):
        matrix, b = triangular(rng, 5), rng.normal(size=5)
        assert_array(learner.backward_substitution(matrix, b), exact_solution(np.triu(matrix), b))
        matrix[np.tril_indices(5, -1)] = np.nan
        x = learner.backward_substitution(matrix, b)
        assert_array(x, exact_solution(np.triu(matrix), b), name="result with NaN below the diagonal")

    @pytest.mark.edges
    @pytest.mark.parametrize("size", [1e-9, 1e-30])
    def test_small_numbers_on_the_upper_diagonal_are_no_zeros(self, learner, rng, size):
        matrix, b = np.triu(triangular(rng, 4)), rng.normal(size=4)
        assert_array(size * plain_array(learner.backward_substitution(size * matrix, b)), exact_solution(matrix, b))

    @pytest.mark.dtype
    def test_integers_become_floats_above(self, learner, rng):
        U = np.triu(rng.integers(1, 5, size=(4, 4))) + 2 * np.eye(4, dtype=np.int64)
        b = rng.integers(1, 30, size=4)
        assert_array(learner.backward_substitution(U, b), exact_solution(U, b), dtype="float64")

    @pytest.mark.dtype
    def test_single_precision_stays_above(self, learner, rng):
        U, b = np.triu(triangular(rng, 4)).astype(np.float32), rng.normal(size=4).astype(np.float32)
        assert_array(learner.backward_substitution(U, b), exact_solution(U, b), dtype="float32")

    @pytest.mark.refusals
    def test_any_zero_of_the_upper_diagonal_is_refused(self, learner, rng):
        for place in range(3):
            U = np.triu(triangular(rng, 3))
            U[place, place] = 0.0
            with pytest.raises(ValueError):
                learner.backward_substitution(U, rng.normal(size=3))

    @pytest.mark.refusals
    def test_upper_matrices_that_are_not_square_are_refused(self, learner, rng):
        for matrix, b in [((3, 4), 3), ((4, 3), 4), ((4,), 4), ((2, 3, 3), 2), ((3, 3, 3), 3)]:
            with pytest.raises(ValueError):
                learner.backward_substitution(rng.uniform(1.0, 2.0, size=matrix), rng.normal(size=b))

    @pytest.mark.refusals
    def test_upper_right_hand_sides_of_other_lengths_are_refused(self, learner, rng):
        for rows in (1, 2, 5):
            with pytest.raises(ValueError):
                learner.backward_substitution(rng.uniform(1.0, 2.0, size=(3, 3)), rng.normal(size=rows))

    @pytest.mark.refusals
    def test_upper_right_hand_sides_of_other_axes_are_refused(self, learner, rng):
        for shape in [(3, 2, 2), (3, 3, 3), ()]:
            with pytest.raises(ValueError):
                learner.backward_substitution(np.triu(triangular(rng, 3)), np.array(rng.normal(size=shape)))
