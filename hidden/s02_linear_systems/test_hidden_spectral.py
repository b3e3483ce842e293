"""Hidden tests of stage s02: the dominant eigenvalue, and the closest matrix of a given rank."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_shape, unchanged
from hidden.s02_linear_systems.oracles import orthonormal, unpack, well_conditioned, with_singular_values

pytestmark = pytest.mark.values


def with_eigenvalues(rng, values):
    """A random matrix that is not symmetric, and the eigenvector of its first eigenvalue, of length 1."""
    directions = well_conditioned(rng, len(values))
    A = directions * np.asarray(values) @ np.linalg.inv(directions)
    return A, directions[:, 0] / np.linalg.norm(directions[:, 0])


def checked_pair(result, n):
    """Return eigenvalue and eigenvector once they are a number and n numbers of length 1."""
    value, vector = unpack(result, "eigenvalue", "eigenvector")
    assert_shape(value, (), name="eigenvalue")
    assert_shape(vector, (n,), name="eigenvector")
    assert_array(np.linalg.norm(vector), 1.0, name="length of the eigenvector")
    return value, vector


def check_other_start(first, other, reason):
    if np.allclose(np.abs(other), np.abs(first)):
        raise AssertionError(f"expected another start for {reason}, but both led to {np.abs(first).round(4).tolist()}")


def check_direction(vector, expected, atol=1e-8):
    sign = -1.0 if vector @ expected < 0 else 1.0
    assert_array(sign * vector, expected, name="eigenvector (either sign will do)", rtol=0.0, atol=atol)


@pytest.mark.criterion("power-iteration")
class TestPowerIteration:
    @pytest.mark.parametrize("dominant", [2.0, -2.0])
    def test_random_matrix_that_is_not_symmetric(self, learner, rng, dominant):
        A, expected = with_eigenvalues(rng, [dominant, *rng.uniform(-1.2, 1.2, size=4)])
        with unchanged(A):
            value, vector = checked_pair(learner.power_iteration(A, rng=rng), 5)
        assert_array(value, dominant, name="eigenvalue")
        check_direction(vector, expected)

    @pytest.mark.parametrize("size", [1e-6, 1e6])
    def test_tolerance_is_relative_to_the_eigenvalue(self, learner, rng, size):
        A, expected = with_eigenvalues(rng, [2.0, *rng.uniform(-1.2, 1.2, size=3)])
        value, vector = checked_pair(learner.power_iteration(size * A, rng=rng), 4)
        assert_array(value, 2.0 * size, name="eigenvalue")
        check_direction(vector, expected)

    def test_negative_eigenvalue_keeps_its_tolerance(self, learner, rng):
        directions = orthonormal(rng, 4, 4)
        A = directions * np.array([-1.0, 0.9, 0.5, 0.1]) @ directions.T
        value, vector = checked_pair(learner.power_iteration(A, tolerance=1e-3, rng=rng), 4)
        residual = np.linalg.norm(A @ vector - value * vector)
        assert_array(max(residual, 1e-3), 1e-3, name="the residual, or the tolerance 1e-3 if that is more")
        assert residual > 1e-8, f"expected to stop once the residual is below 1e-3, but went on to {residual:.1e}"

    def test_one_step_is_enough_for_rank_one(self, learner, rng):
        u, w = rng.uniform(1.0, 2.0, size=(2, 5))
        value, vector = checked_pair(learner.power_iteration(np.outer(u, w), num_iterations=1, rng=rng), 5)
        check_direction(vector, u / np.linalg.norm(u))
        assert_array(value, w @ u, name="eigenvalue")

    @pytest.mark.parametrize("steps", [1, 2, 4])
    def test_number_of_steps(self, learner, rng, steps):
        """Each multiplication with the shift matrix moves the entries up by one and leaves a zero at the end."""
        shift = np.diag(rng.uniform(1.0, 2.0, size=6), 1)
        _, vector = checked_pair(learner.power_iteration(shift, num_iterations=steps, rng=rng), 7)
        assert_array((vector == 0.0).astype(np.int64), [int(i >= 7 - steps) for i in range(7)], name="zeros")

    def test_eigenvalue_belongs_to_the_returned_vector(self, learner, rng):
        directions = orthonormal(rng, 20, 20)
        A = directions * np.linspace(1.0, 0.2, 20) @ directions.T
        value, vector = checked_pair(learner.power_iteration(A, num_iterations=2, rng=rng), 20)
        assert_array(value, vector @ A @ vector, name="eigenvalue, as v @ A @ v of the returned v")

    def test_tolerance_stops_it_early(self, learner, rng):
        """From a random start of 20 entries the residual is above 1e-6, or 19 of them would be nearly zero."""
        A = np.diag([1.0, *rng.uniform(0.9, 0.95, size=19)])
        value, vector = checked_pair(learner.power_iteration(A, tolerance=0.5, rng=rng), 20)
        residual = np.linalg.norm(A @ vector - value * vector)
        assert residual > 1e-6, f"expected to stop at once with tolerance=0.5, but its residual is {residual:.1e}"

    def test_defaults_are_a_thousand_steps_and_1e_10(self, learner, rng):
        seed = int(rng.integers(2**31))
        for ratio in (0.9999, 0.9):
            A = np.diag([1.0, ratio, 0.5 * ratio])
            _, expected = checked_pair(learner.power_iteration(A, 1000, 1e-10, np.random.default_rng(seed)), 3)
            _, vector = checked_pair(learner.power_iteration(A, rng=np.random.default_rng(seed)), 3)
            assert_array(vector, expected, name="eigenvector with the defaults", rtol=0.0, atol=1e-12)

    @pytest.mark.purity
    def test_start_is_random_and_repeatable(self, learner, rng):
        A, seed = np.diag([1.0, 0.99, 0.98, 0.97]), int(rng.integers(2**31))
        pairs = [learner.power_iteration(A, 1, rng=np.random.default_rng(seed + more)) for more in (0, 0, 1)]
        first, again, other = (checked_pair(pair, 4)[1] for pair in pairs)
        assert_array(again, first, name="eigenvector, for the same seed again")
        check_other_start(first, other, "another seed")

    @pytest.mark.purity
    def test_without_a_generator_the_start_is_random(self, learner):
        A = np.diag([1.0, 0.99, 0.98, 0.97])
        first, other = (checked_pair(learner.power_iteration(A, 1), 4)[1] for _ in range(2))
        check_other_start(first, other, "each call without rng")

    def test_starts_are_spread_evenly_over_the_directions(self, learner):
        """Of 80 fair signs of a product, fewer than 8 or more than 72 are alike with probability below 1e-13."""
        signs = []
        for seed in range(80):
            result = learner.power_iteration(np.diag([1.0, 0.99]), 1, rng=np.random.default_rng(seed))
            _, vector = checked_pair(result, 2)
            signs.append(vector[0] * vector[1] > 0)
        assert 8 <= sum(signs) <= 72, f"{sum(signs)} of 80 starts have entries of one sign; expected about half"

    @pytest.mark.edges
    def test_the_zero_matrix(self, learner, rng):
        value, _ = checked_pair(learner.power_iteration(np.zeros((3, 3)), rng=rng), 3)
        assert_array(value, 0.0, name="eigenvalue")

    @pytest.mark.dtype
    def test_integer_matrix(self, learner, rng):
        value, vector = checked_pair(learner.power_iteration(np.array([[2, 1], [1, 2]]), rng=rng), 2)
        assert_array(value, 3.0, name="eigenvalue")
        check_direction(vector, np.sqrt([0.5, 0.5]))

    @pytest.mark.dtype
    def test_single_precision_stays_in_the_eigenvector(self, learner, rng):
        A, expected = with_eigenvalues(rng, [2.0, *rng.uniform(-1.0, 1.0, size=3)])
        value, vector = unpack(learner.power_iteration(A.astype(np.float32), rng=rng), "eigenvalue", "eigenvector")
        assert_array(value, 2.0, name="eigenvalue", rtol=1e-4)
        assert_shape(vector, (4,), name="eigenvector")
        sign = np.float32(-1 if vector @ expected < 0 else 1)
        assert_array(sign * vector, expected, name="eigenvector", rtol=0.0, atol=1e-4, dtype="float32")

    @pytest.mark.refusals
    def test_power_iteration_of_other_shapes_is_refused(self, learner, rng):
        for shape in [(3, 4), (4, 3), (4,), (2, 3, 3), (3, 3, 3)]:
            with pytest.raises(ValueError):
                learner.power_iteration(rng.normal(size=shape), rng=rng)

    @pytest.mark.refusals
    def test_no_steps_are_refused(self, learner, rng):
        for num_iterations in (0, -1):
            with pytest.raises(ValueError):
                learner.power_iteration(np.eye(3), num_iterations, rng=rng)


@pytest.mark.criterion("low-rank-approximation")
class TestLowRankApproximation:
    @pytest.mark.parametrize(("m", "n"), [(5, 4), (4, 6), (4, 4)])
    def test_leading_singular_values_are_kept(self, learner, rng, m, n):
        values = np.array([5.0, 3.0, 2.0, 1.0]) + rng.uniform(0.0, 0.5, size=4)
        left, right = orthonormal(rng, m, 4), orthonormal(rng, n, 4)
        A = left * values @ right.T
        for rank in (1, 2, 3, 4):
            expected = sum(values[i] * np.outer(left[:, i], right[:, i]) for i in range(rank))
            with unchanged(A):
                result = learner.low_rank_approximation(A, rank)
            assert_array(result, expected, name=f"result for rank {rank}")

    def test_error_is_what_eckart_and_young_say(self, learner, rng):
        values = np.sort(rng.uniform(1.0, 9.0, size=5))[::-1]
        A = with_singular_values(rng, 7, 5, values)
        result = learner.low_rank_approximation(A, 2)
        assert_shape(result, (7, 5))
        assert_array(np.linalg.norm(A - result), np.sqrt(np.sum(values[2:] ** 2)), name="distance to A")
        further = np.linalg.svd(result, compute_uv=False)[2:]
        assert_array(further, np.zeros(3), name="the singular values beyond rank", atol=1e-9)

    @pytest.mark.dtype
    def test_integer_table(self, learner, rng):
        A = np.outer(rng.integers(1, 9, size=4), rng.integers(1, 9, size=3))
        assert_array(learner.low_rank_approximation(A, 1), A.astype(np.float64), dtype="float64")

    @pytest.mark.dtype
    def test_single_precision_stays_in_the_approximation(self, learner, rng):
        A = with_singular_values(rng, 5, 3, [4.0, 2.0, 1.0]).astype(np.float32)
        expected = A.astype(np.float64) - with_only_the_last(A)
        assert_array(learner.low_rank_approximation(A, 2), expected, rtol=1e-4, dtype="float32")

    @pytest.mark.refusals
    def test_ranks_out_of_range_are_refused(self, learner, rng):
        for shape, rank in [((4, 3), 0), ((4, 3), -1), ((4, 3), 4), ((3, 5), 4)]:
            with pytest.raises(ValueError):
                learner.low_rank_approximation(rng.normal(size=shape), rank)

    @pytest.mark.refusals
    def test_what_is_no_matrix_has_no_approximation(self, learner, rng):
        for shape in [(4,), (2, 3, 3), (3, 3, 3)]:
            with pytest.raises(ValueError):
                learner.low_rank_approximation(rng.normal(size=shape), 1)


def with_only_the_last(A):
    """The part of A that its smallest singular value stands for."""
    U, s, Vt = np.linalg.svd(A.astype(np.float64), full_matrices=False)
    return s[-1] * np.outer(U[:, -1], Vt[-1])
