"""Hidden tests of stage s09: penalties and their slopes."""

import math

import numpy as np
import pytest

from grader.testing import assert_array, assert_gradient, assert_shape, numerical_gradient, plain_array, unchanged
from hidden.s09_regularization.oracles import (
    draw_weights,
    shrunk,
)

pytestmark = pytest.mark.values
SHAPES = [(5,), (1,), (2, 3), (2, 3, 4)]


@pytest.mark.criterion("ridge-penalty")
class TestRidgePenaltyOfAnyWeights:
    @pytest.mark.parametrize("shape", SHAPES, ids=str)
    def test_sum_of_squares_and_its_slope(self, learner, rng, shape):
        weights, alpha = draw_weights(rng, *shape), float(rng.uniform(0.1, 0.9))
        with unchanged(weights):
            penalty, gradient = learner.ridge_penalty(weights, alpha), learner.ridge_gradient(weights, alpha)
        assert_array(penalty, alpha * math.fsum(w * w for w in weights.ravel().tolist()), terms=weights.size)
        assert_array(gradient, np.array([alpha * w + w * alpha for w in weights.ravel().tolist()]).reshape(shape))

    def test_gradient_agrees_with_differences_of_the_own_penalty(self, learner, rng):
        weights, alpha = draw_weights(rng, 2, 3), float(rng.uniform(0.1, 3))
        slope = numerical_gradient(lambda at: learner.ridge_penalty(at, alpha), weights)
        assert_gradient(learner.ridge_gradient(weights, alpha), slope, name="ridge_gradient")

    @pytest.mark.edges
    def test_alpha_of_zero_is_free(self, learner, rng):
        weights = draw_weights(rng, 4)
        assert_array(learner.ridge_penalty(weights, 0.0), 0.0)
        assert_array(learner.ridge_gradient(weights, 0.0), np.zeros(4))

    @pytest.mark.refusals
    def test_alpha_below_zero_is_refused(self, learner, rng):
        weights = draw_weights(rng, 4)
        for function in (learner.ridge_penalty, learner.ridge_gradient):
            with pytest.raises(ValueError):
                function(weights, -float(rng.uniform(1e-6, 0.1)))

    @pytest.mark.dtype
    def test_slope_in_single_precision(self, learner, rng):
        weights = draw_weights(rng, 4).astype(np.float32)
        assert_array(learner.ridge_gradient(weights, 0.75), 1.5 * weights, dtype="float32")

    @pytest.mark.dtype
    def test_whole_weights_have_a_charge_with_fractions(self, learner, rng):
        weights = rng.permutation([-3, -1, 2, 5])
        assert_array(learner.ridge_penalty(weights, 0.3), 0.3 * 39, name="ridge_penalty")
        assert_array(learner.ridge_gradient(weights, 0.3), 0.6 * weights, name="ridge_gradient")


@pytest.mark.criterion("lasso-penalty")
class TestLassoPenaltyOfAnyWeights:
    @pytest.mark.parametrize("shape", SHAPES, ids=str)
    def test_sum_of_absolute_weights(self, learner, rng, shape):
        weights, alpha = draw_weights(rng, *shape), float(rng.uniform(0.1, 0.9))
        with unchanged(weights):
            penalty = learner.lasso_penalty(weights, alpha)
        assert_array(penalty, alpha * math.fsum(abs(w) for w in weights.ravel().tolist()), terms=weights.size)

    @pytest.mark.edges
    def test_no_charge_without_alpha(self, learner, rng):
        assert_array(learner.lasso_penalty(draw_weights(rng, 4), 0.0), 0.0)

    @pytest.mark.refusals
    def test_alpha_below_zero_is_no_lasso_penalty(self, learner, rng):
        weights = draw_weights(rng, 4)
        with pytest.raises(ValueError):
            learner.lasso_penalty(weights, -float(rng.uniform(1e-6, 0.1)))

    @pytest.mark.dtype
    def test_whole_weights_have_a_lasso_penalty_with_fractions(self, learner, rng):
        assert_array(learner.lasso_penalty(rng.permutation([-3, -1, 2, 5]), 0.3), 0.3 * 11)


@pytest.mark.criterion("soft-threshold")
class TestSoftThresholdOfAnyNumbers:
    @pytest.mark.parametrize("shape", [(9,), (3, 4), (2, 2, 3)], ids=str)
    def test_any_numbers(self, learner, rng, shape):
        z, threshold = rng.uniform(-2, 2, shape), float(rng.uniform(0.4, 1.2))
        z.flat[:2] = threshold, -threshold
        with unchanged(z):
            result = learner.soft_threshold(z, threshold)
        assert_array(result, np.array([shrunk(each, threshold) for each in z.ravel().tolist()]).reshape(shape))

    def test_result_makes_the_penalised_distance_least(self, learner, rng):
        z, threshold = rng.uniform(-2, 2, 12), float(rng.uniform(0.4, 1.2))
        best = learner.soft_threshold(z, threshold)
        assert_shape(best, (12,))

        def objective(w):
            return 0.5 * (w - z) ** 2 + threshold * np.abs(w)

        for step in (-0.5, -1e-3, 1e-3, 0.5):
            gain = np.maximum(objective(best) - objective(best + step), 0)
            assert_array(gain, np.zeros(12), name=f"gain by a step of {step}", atol=1e-9)

    @pytest.mark.edges
    def test_numbers_and_a_threshold_of_zero(self, learner, rng):
        z = draw_weights(rng, 5)
        for number in (*z.tolist(), 0.0):
            assert_array(learner.soft_threshold(number, 0.7), shrunk(number, 0.7))
        assert_array(learner.soft_threshold(z, 0.0), z)

    @pytest.mark.dtype
    def test_threshold_in_single_precision(self, learner, rng):
        single = draw_weights(rng, 5).astype(np.float32)
        expected = np.array([shrunk(each, 0.5) for each in single.tolist()], np.float32)
        assert_array(learner.soft_threshold(single, 0.5), expected, dtype="float32")

    @pytest.mark.dtype
    def test_whole_numbers_are_shrunk_by_a_fraction(self, learner, rng):
        z = rng.permutation([-3, -1, 0, 2, 5])
        assert_array(learner.soft_threshold(z, 0.25), np.array([shrunk(each, 0.25) for each in z.tolist()]))

    @pytest.mark.refusals
    def test_threshold_below_zero_is_refused(self, learner, rng):
        with pytest.raises(ValueError):
            learner.soft_threshold(rng.normal(size=4), -float(rng.uniform(1e-6, 0.1)))


@pytest.mark.criterion("elastic-net")
class TestElasticNetOfAnyWeights:
    @pytest.mark.parametrize("shape", SHAPES, ids=str)
    def test_slope_of_the_mixture(self, learner, rng, shape):
        weights, alpha = draw_weights(rng, *shape), float(rng.uniform(0.2, 3))
        for ratio in (0.0, float(rng.uniform(0.1, 0.4)), float(rng.uniform(0.6, 0.9)), 1.0):
            with unchanged(weights):
                result = learner.elastic_net_gradient(weights, alpha, ratio)
            slopes = [
                alpha * ratio * math.copysign(1, w) + alpha * (1 - ratio) * (w + w) for w in weights.ravel().tolist()
            ]
            assert_array(result, np.array(slopes).reshape(shape))

    def test_agrees_with_differences_of_both_penalties(self, learner, rng):
        weights, alpha, ratio = draw_weights(rng, 2, 3), float(rng.uniform(0.2, 3)), float(rng.uniform(0.2, 0.8))

        def mixture(at):
            ridge_part, lasso_part = learner.ridge_penalty(at, alpha), learner.lasso_penalty(at, alpha)
            return ratio * plain_array(lasso_part) + (1 - ratio) * plain_array(ridge_part)

        slope = numerical_gradient(mixture, weights)
        assert_gradient(learner.elastic_net_gradient(weights, alpha, ratio), slope, name="elastic_net_gradient")

    @pytest.mark.edges
    def test_weights_of_zero_and_alpha_of_zero(self, learner, rng):
        weights = draw_weights(rng, 5)
        weights[[1, 3]] = 0.0
        expected = np.array([0.0 if w == 0 else 0.75 * math.copysign(1, w) + 0.5 * w for w in weights.tolist()])
        assert_array(learner.elastic_net_gradient(weights, 1.0, 0.75), expected)
        assert_array(learner.elastic_net_gradient(weights, 0.0, 0.75), np.zeros(5))

    @pytest.mark.dtype
    def test_mixture_of_whole_weights(self, learner, rng):
        weights = rng.permutation([-3, -1, 0, 2, 5])
        expected = 0.75 * np.sign(weights) + 0.5 * weights
        assert_array(learner.elastic_net_gradient(weights, 1.0, 0.75), expected)

    @pytest.mark.dtype
    def test_mixture_in_single_precision(self, learner, rng):
        weights = draw_weights(rng, 5).astype(np.float32)
        expected = np.array([0.75 * math.copysign(1, w) + 0.5 * w for w in weights.tolist()])
        assert_array(learner.elastic_net_gradient(weights, 1.0, 0.75), expected, dtype="float32")

    @pytest.mark.refusals
    def test_unsuitable_alpha_and_ratio_are_refused(self, learner, rng):
        little = float(rng.uniform(1e-6, 0.1))
        for alpha, ratio in ((-little, 0.5), (1.0, -little), (1.0, 1 + little)):
            with pytest.raises(ValueError):
                learner.elastic_net_gradient(draw_weights(rng, 3), alpha, ratio)
