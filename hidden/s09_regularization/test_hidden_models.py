"""Hidden tests of stage s09: the models that are fitted under penalties."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_shape, numerical_gradient, unchanged
from hidden.s09_regularization.oracles import (
    assert_model,
    assert_optimal,
    draw,
    lasso,
    ridge,
    ridge_by_samples,
    unpack,
)

pytestmark = pytest.mark.values
WRONG_SAMPLES = (((4,), (4,)), ((2, 4, 3), (2,)), ((0, 3), (0,)), ((4, 3), (3,)), ((4, 3), (4, 1)), ((4, 3), (1,)))


@pytest.mark.criterion("fit-ridge")
class TestFitRidgeToAnySamples:
    @pytest.mark.parametrize(("samples", "features"), [(12, 3), (9, 1), (20, 5)])
    def test_weights_and_bias_of_least_cost(self, learner, rng, samples, features):
        X, y = draw(rng, samples, features)
        for alpha in (0.0, float(rng.uniform(0.1, 2)), float(rng.uniform(5, 50))):
            with unchanged(X, y):
                result = learner.fit_ridge(X, y, alpha)
            assert_model(result, *ridge(X, y, alpha), rtol=1e-7)

    def test_all_slopes_of_the_cost_are_zero(self, learner, rng):
        X, y = draw(rng, 15, 3)
        alpha = float(rng.uniform(0.5, 5))
        weights, bias = unpack(learner.fit_ridge(X, y, alpha), "weights", "bias")
        assert_shape(weights, (3,), name="weights")

        def cost(model):
            return np.sum((y - X @ model[1:] - model[0]) ** 2) + alpha * np.sum(model[1:] ** 2)

        slopes = numerical_gradient(cost, np.append(bias, weights))
        assert_array(slopes, np.zeros(4), name="the slopes of the cost by bias and weights", atol=1e-4)

    @pytest.mark.edges
    def test_enormous_alpha_leaves_the_mean(self, learner, rng):
        X, y = draw(rng, 10, 3)
        assert_model(learner.fit_ridge(X, y + 50, 1e12), np.zeros(3), float(np.mean(y + 50)), rtol=1e-6)

    @pytest.mark.dtype
    def test_whole_numbers_and_single_precision_are_fitted(self, learner, rng):
        X = rng.permutation(30).reshape(10, 3) + np.eye(10, 3, dtype=int) * 40
        y = rng.integers(-9, 9, 10)
        assert_model(learner.fit_ridge(X, y, 2.5), *ridge(X, y, 2.5), rtol=1e-7)
        X, y = (each.astype(np.float32) for each in draw(rng, 12, 3))
        weights, bias = unpack(learner.fit_ridge(X, y, 0.5), "weights", "bias")
        expected = ridge(X.astype(float), y.astype(float), 0.5)
        assert_array(weights, expected[0], name="weights", dtype="float32", rtol=1e-3)
        assert_array(bias, expected[1], name="bias", rtol=1e-3, atol=1e-2)

    @pytest.mark.refusals
    def test_unsuitable_samples_and_alpha_are_not_fitted(self, learner, rng):
        for table, targets in WRONG_SAMPLES:
            with pytest.raises(ValueError):
                learner.fit_ridge(rng.normal(size=table), rng.normal(size=targets), 1.0)
        with pytest.raises(ValueError):
            learner.fit_ridge(*draw(rng, 6, 2), -float(rng.uniform(1e-6, 0.1)))


@pytest.mark.criterion("ridge-hard-cases")
class TestRidgeInHardCases:
    @pytest.mark.edges
    def test_features_that_depend_on_each_other(self, learner, rng):
        X, y = draw(rng, 12, 2)
        dependent = np.column_stack([X, X[:, 0], X[:, 0] - 2 * X[:, 1]])
        alpha = float(rng.uniform(0.5, 3))
        assert_model(learner.fit_ridge(dependent, y, alpha), *ridge_by_samples(dependent, y, alpha), rtol=1e-6)

    @pytest.mark.edges
    @pytest.mark.parametrize(("samples", "features"), [(3, 2), (4, 9), (12, 4)])
    def test_dependent_features_without_a_penalty(self, learner, rng, samples, features):
        """Any least-squares solution will do: all of them predict the same for the samples."""
        X, y = draw(rng, samples, features)
        X[:, 1:3] = X[:, :1]
        if samples == 3:
            X[:] = np.arange(1.0, 4.0)[:, None]
        weights, bias = unpack(learner.fit_ridge(X, y, 0.0), "weights", "bias")
        A = np.column_stack([np.ones(samples), X])
        expected = A @ np.linalg.lstsq(A, y, rcond=None)[0]
        assert_array(X @ weights + bias, expected, name="predictions for the samples", rtol=1e-6)

    @pytest.mark.edges
    @pytest.mark.parametrize(("samples", "features"), [(4, 9), (1, 3), (2, 2)])
    def test_as_few_samples_as_features_or_fewer(self, learner, rng, samples, features):
        X, y = draw(rng, samples, features)
        assert_model(learner.fit_ridge(X, y, 0.5), *ridge_by_samples(X, y, 0.5), rtol=1e-6)

    @pytest.mark.edges
    def test_feature_that_never_changes_has_no_weight(self, learner, rng):
        X, y = draw(rng, 9, 2)
        constant = np.column_stack([X[:, 0], np.full(9, 3.0), X[:, 1], np.zeros(9)])
        weights, bias = ridge(X, y, 1.5)
        assert_model(learner.fit_ridge(constant, y, 1.5), np.array([weights[0], 0, weights[1], 0]), bias, rtol=1e-6)

    @pytest.mark.edges
    def test_features_far_from_zero_keep_their_digits(self, learner, rng):
        """The means are up to 2e8 spreads: a column of ones, multiplied out, has no digit left."""
        X, y = draw(rng, 20, 3)
        moved = np.round(X * 1024) / 1024 + np.array([1e8, -5e7, 0.0])
        near = moved - np.array([1e8, -5e7, 0.0])
        alpha = float(rng.uniform(0.5, 3))
        expected_weights, expected_bias = ridge(near, y, alpha)
        weights, bias = unpack(learner.fit_ridge(moved, y, alpha), "weights", "bias")
        assert_array(weights, expected_weights, name="weights", rtol=1e-6)
        assert_array(moved @ weights + bias, near @ expected_weights + expected_bias, name="predictions", rtol=1e-6)

    @pytest.mark.edges
    def test_features_and_targets_far_from_zero(self, learner, rng):
        """What rounding leaves of the means of centred features, some 1e-10, is multiplied by a mean that y keeps."""
        X, y = draw(rng, 61, 3)
        far, targets, alpha = X + 1e6, y + 3e6, float(rng.uniform(0.5, 3))
        weights, _ = unpack(learner.fit_ridge(far, targets, alpha), "weights", "bias")
        assert_array(weights, ridge(far - 1e6, targets - 3e6, alpha)[0], name="weights", rtol=1e-6)


@pytest.mark.criterion("fit-lasso")
class TestFitLassoToAnySamples:
    @pytest.mark.parametrize(("samples", "features"), [(12, 3), (8, 1), (15, 5), (4, 6)])
    def test_each_iteration_of_the_descent(self, learner, rng, samples, features):
        X, y = draw(rng, samples, features)
        for num_iterations in (1, 2, 5):
            alpha = float(rng.uniform(0.05, 0.5))
            with unchanged(X, y):
                result = learner.fit_lasso(X, y, alpha, num_iterations)
            assert_model(result, *lasso(X, y, alpha, num_iterations), rtol=1e-7)

    def test_without_penalty_it_arrives_at_least_squares(self, learner, rng):
        X, y = draw(rng, 40, 3)
        assert_model(learner.fit_lasso(X, y, 0.0, 120), *ridge(X, y, 0.0), rtol=1e-6)

    @pytest.mark.dtype
    def test_whole_numbers_and_single_precision_are_descended(self, learner, rng):
        X = rng.permutation(24).reshape(8, 3) + np.eye(8, 3, dtype=int) * 30
        y = X @ np.array([3, -4, 2]) + rng.integers(-40, 40, 8)
        assert_model(learner.fit_lasso(X, y, 0.5, 4), *lasso(X, y, 0.5, 4), rtol=1e-7)
        X, y = (each.astype(np.float32) for each in draw(rng, 12, 3))
        weights, bias = unpack(learner.fit_lasso(X, y, 0.25, 3), "weights", "bias")
        expected = lasso(X.astype(float), y.astype(float), 0.25, 3)
        assert_array(weights, expected[0], name="weights", dtype="float32", rtol=1e-3)
        assert_array(bias, expected[1], name="bias", rtol=1e-3, atol=1e-2)

    @pytest.mark.edges
    def test_features_and_targets_far_from_zero(self, learner, rng):
        X, y = draw(rng, 61, 3)
        far, targets, alpha = X + 1e6, y + 3e6, float(rng.uniform(0.05, 0.2))
        weights, _ = unpack(learner.fit_lasso(far, targets, alpha, 3), "weights", "bias")
        assert_array(weights, lasso(far - 1e6, targets - 3e6, alpha, 3)[0], name="weights", rtol=1e-6)

    @pytest.mark.refusals
    def test_unsuitable_samples_are_not_descended(self, learner, rng):
        for table, targets in WRONG_SAMPLES:
            with pytest.raises(ValueError):
                learner.fit_lasso(rng.normal(size=table), rng.normal(size=targets), 1.0, 2)

    @pytest.mark.refusals
    def test_unsuitable_alpha_and_iterations_are_refused(self, learner, rng):
        X, y = draw(rng, 6, 2)
        for alpha, num_iterations in ((-float(rng.uniform(1e-6, 0.1)), 2), (1.0, 0), (1.0, -1)):
            with pytest.raises(ValueError):
                learner.fit_lasso(X, y, alpha, num_iterations)
        with pytest.raises(ValueError):
            learner.fit_lasso(np.full((4, 2), 3.0), y[:4], -1.0, 2)


@pytest.mark.criterion("lasso-zeros")
class TestLassoZerosOfAnySamples:
    def test_conditions_of_the_optimum(self, learner, rng):
        X, _ = draw(rng, 60, 5)
        y = X[:, 1] * 2 - X[:, 3] + rng.normal(0, 0.3, 60)
        for alpha in (float(rng.uniform(0.01, 0.05)), float(rng.uniform(0.2, 0.4))):
            assert_optimal(learner.fit_lasso(X, y, alpha, 120), X, y, alpha)

    def test_price_at_which_the_last_feature_leaves(self, learner, rng):
        X, y = draw(rng, 30, 4)
        slopes = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())) / len(X)
        highest = float(slopes.max())
        assert_model(learner.fit_lasso(X, y, highest * 1.001, 5), np.zeros(4), float(y.mean()), rtol=1e-7)
        assert_optimal(learner.fit_lasso(X, y, highest * 0.9, 120), X, y, highest * 0.9)

    @pytest.mark.edges
    def test_features_that_never_change_have_no_weight(self, learner, rng):
        X, y = draw(rng, 9, 2)
        weights, bias = lasso(X, y, 0.25, 3)
        for constant in (2.0, 0.0, 0.1):
            table = np.column_stack([np.full(9, constant), X[:, 0], np.full(9, constant), X[:, 1]])
            expected = np.array([0, weights[0], 0, weights[1]])
            assert_model(learner.fit_lasso(table, y, 0.25, 3), expected, bias, rtol=1e-7)

    @pytest.mark.edges
    @pytest.mark.parametrize("constant", [0.1, -0.7, 1e6 + 0.1])
    def test_rounded_mean_of_a_feature_that_never_changes(self, learner, rng, constant):
        """Of 3, 6, 7, 9, 10 or 11 tenths the mean is not quite a tenth: what is left of the feature is no spread."""
        for samples in (3, 6, 7, 9, 10, 11):
            X, y = draw(rng, samples, 1)
            weights, bias = lasso(X, y, 0.0, 5)
            table = np.column_stack([np.full(samples, constant), X])
            assert_model(learner.fit_lasso(table, y, 0.0, 5), np.array([0, weights[0]]), bias, rtol=1e-7)

    @pytest.mark.edges
    def test_feature_of_a_tiny_spread_is_no_constant(self, learner, rng):
        X, y = draw(rng, 9, 1)
        assert_model(learner.fit_lasso(1e-13 * X, y, 0.0, 5), *lasso(1e-13 * X, y, 0.0, 5), rtol=1e-7)

    @pytest.mark.edges
    def test_single_sample_leaves_its_target(self, learner, rng):
        X, y = draw(rng, 1, 3)
        assert_model(learner.fit_lasso(X, y, 0.25, 2), np.zeros(3), float(y[0]), rtol=1e-7)

    @pytest.mark.edges
    def test_far_features_have_the_same_weights(self, learner, rng):
        """A mean of products, 1e12, less a product of means has no more than four digits left of 1."""
        far = np.array([1e6, -2e6, 0.0])
        for _ in range(3):
            X, y = draw(rng, 20, 3)
            moved = np.round(X * 1024) / 1024 + far
            weights, _ = unpack(learner.fit_lasso(moved, y, 0.02, 4), "weights", "bias")
            assert_array(weights, lasso(moved - far, y, 0.02, 4)[0], name="weights", rtol=1e-6)
