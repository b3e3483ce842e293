"""Hidden tests of stage s04: entropy and divergence of any distribution."""

import math

import numpy as np
import pytest

from grader.testing import assert_array, plain_array, unchanged
from hidden.s04_probability.oracles import distribution, surprise

pytestmark = pytest.mark.values
NO_DISTRIBUTIONS = ([0.5, 0.4], [0.7, 0.7], [-0.2, 1.2], [1.5, -0.5], [np.nan, 1.0])


@pytest.mark.criterion("entropy")
class TestEntropyAnywhere:
    def test_entropy_of_any_distribution(self, learner, rng):
        p = distribution(rng, 5)
        with unchanged(p):
            assert_array(learner.entropy(p), surprise(p.tolist(), p.tolist()))

    def test_along_the_last_axis(self, learner, rng):
        p = distribution(rng, 2, 3, 4)
        expected = [[surprise(row, row) for row in table] for table in p.tolist()]
        assert_array(learner.entropy(p), np.array(expected))

    @pytest.mark.edges
    def test_impossible_outcomes_add_nothing(self, learner, rng):
        p = distribution(rng, 3)
        assert_array(learner.entropy(np.insert(p, [0, 2], 0.0)), surprise(p.tolist(), p.tolist()))
        assert_array(learner.entropy(np.eye(4)), np.zeros(4), name="the entropy of what is certain")

    @pytest.mark.edges
    def test_rare_outcomes_count(self, learner):
        p = np.array([1e-30, 1.0])
        result = learner.entropy(np.array([p, p[::-1]]))
        assert_array(
            plain_array(result) * 1e30,
            np.full(2, 30 * math.log(10)),
            name="the entropy of [1e-30, 1] / 1e-30",
            rtol=1e-6,
        )

    @pytest.mark.dtype
    def test_entropy_in_single_precision(self, learner, rng):
        p = distribution(rng, 4).astype(np.float32)
        assert_array(learner.entropy(p[np.newaxis]), np.array([surprise(p.tolist(), p.tolist())]), dtype="float32")

    @pytest.mark.refusals
    def test_entropy_of_no_distribution_is_refused(self, learner):
        for p in NO_DISTRIBUTIONS:
            with pytest.raises(ValueError):
                learner.entropy(np.array(p))
        for p in (np.array([[0.5, 0.5], [0.5, 0.4]]), np.array([[0.5, 0.1], [0.5, 0.9]]), np.array(1.0)):
            with pytest.raises(ValueError):
                learner.entropy(p)

    @pytest.mark.edges
    def test_sums_that_are_one_up_to_rounding_are_taken(self, learner, rng):
        p = distribution(rng, 3)
        p[0] += 9e-7
        assert_array(learner.entropy(p), surprise(p.tolist(), p.tolist()))

    @pytest.mark.refusals
    def test_sums_that_are_off_by_more_than_a_millionth_are_refused(self, learner, rng):
        p = distribution(rng, 3)
        p[0] += 1.5e-6
        with pytest.raises(ValueError):
            learner.entropy(p)


@pytest.mark.criterion("kl-divergence")
class TestDivergenceAnywhere:
    def test_divergence_of_any_distributions(self, learner, rng):
        p, q = distribution(rng, 2, 5)
        expected = surprise(p.tolist(), q.tolist()) - surprise(p.tolist(), p.tolist())
        with unchanged(p, q):
            assert_array(learner.kl_divergence(p, q), expected, atol=1e-12)

    @pytest.mark.dtype
    def test_integers_have_a_divergence_with_fractions(self, learner, rng):
        p, q = rng.permutation(np.eye(4, dtype=np.int64)), distribution(rng, 4, 4)
        expected = [surprise(a, b) for a, b in zip(p.tolist(), q.tolist(), strict=True)]
        assert_array(learner.kl_divergence(p, q), np.array(expected), atol=1e-12)

    def test_divergence_along_the_last_axis(self, learner, rng):
        p, q = distribution(rng, 2, 3, 4)
        expected = [surprise(a, b) - surprise(a, a) for a, b in zip(p.tolist(), q.tolist(), strict=True)]
        assert_array(learner.kl_divergence(p, q), np.array(expected), atol=1e-12)

    def test_of_itself_it_is_zero(self, learner, rng):
        p = distribution(rng, 3, 4)
        assert_array(learner.kl_divergence(p, p.copy()), np.zeros(3), atol=1e-12)

    @pytest.mark.edges
    def test_zeros_on_either_side(self, learner, rng):
        half, p = np.array([0.5, 0.5, 0.0]), distribution(rng, 3)
        expected = surprise([0.5, 0.5], p[:2].tolist()) - math.log(2)
        result = learner.kl_divergence(np.array([half, p, half]), np.array([p, half, half]))
        assert_array(result, np.array([expected, np.inf, 0.0]), atol=1e-12)

    @pytest.mark.edges
    def test_believed_to_be_nearly_impossible(self, learner, rng):
        q = 10.0 ** -float(rng.uniform(309, 320))  # 0.5 / q is beyond the largest float
        expected = -math.log(2) - math.log(q) / 2
        assert_array(learner.kl_divergence(np.array([0.5, 0.5]), np.array([q, 1.0])), expected)

    @pytest.mark.refusals
    def test_divergence_of_unlike_shapes_is_refused(self, learner, rng):
        for one, other in (((3,), (4,)), ((2, 3), (3,)), ((3,), (2, 3)), ((3,), (1,)), ((1, 3), (2, 3))):
            with pytest.raises(ValueError):
                learner.kl_divergence(distribution(rng, *one), distribution(rng, *other))

    @pytest.mark.refusals
    def test_divergence_of_no_distributions_is_refused(self, learner):
        half = np.array([0.5, 0.5])
        for wrong in NO_DISTRIBUTIONS:
            with pytest.raises(ValueError):
                learner.kl_divergence(np.array(wrong), half)
            with pytest.raises(ValueError):
                learner.kl_divergence(half, np.array(wrong))
