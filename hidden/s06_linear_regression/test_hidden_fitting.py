"""Hidden tests of stage s06: both ways to fit the model."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_shape, unchanged
from hidden.s06_linear_regression.oracles import (
    WRONG_SAMPLES,
    descent,
    draw,
    least_squares,
    loss,
    predictions,
    unpack,
)

pytestmark = pytest.mark.values


def assert_fitted(result, X, y, rtol=1e-8):
    """Assert that result is the (weights, bias) of the least mean squared error, where only one model has it."""
    weights, bias = unpack(result, "weights", "bias")
    expected = least_squares(X, y)
    assert_array(weights, expected[0], name="weights", rtol=rtol)
    assert_array(bias, expected[1], name="bias", rtol=rtol)


@pytest.mark.criterion("normal-equation")
class TestNormalEquation:
    @pytest.mark.parametrize(("samples", "features"), [(12, 3), (5, 4), (9, 1)])
    def test_least_loss_of_any_data(self, learner, rng, samples, features):
        X, y = draw(rng, samples, features)
        if samples == features + 1:
            X = np.vstack([np.zeros(features), np.diag(rng.uniform(1, 2, features))])  # well conditioned
        with unchanged(X, y):
            result = learner.normal_equation(X, y)
        assert_fitted(result, X, y)

    @pytest.mark.dtype
    def test_whole_numbers_are_fitted(self, learner, rng):
        X, y = rng.integers(-9, 9, (10, 2)), rng.integers(-9, 9, 10)
        X[:4] = [[0, 0], [5, 0], [0, 5], [-5, 5]]
        assert_fitted(learner.normal_equation(X, y), X, y)

    @pytest.mark.dtype
    def test_fit_in_single_precision(self, learner, rng):
        X, y = (each.astype(np.float32) for each in draw(rng, 20, 2))
        weights, _ = unpack(learner.normal_equation(X, y), "weights", "bias")
        assert_array(weights, least_squares(X, y)[0], name="weights", dtype="float32", rtol=1e-3)

    @pytest.mark.refusals
    def test_fit_of_unsuitable_shapes_is_refused(self, learner, rng):
        for table, targets in WRONG_SAMPLES:
            with pytest.raises(ValueError):
                learner.normal_equation(rng.normal(size=table), rng.normal(size=targets))


def assert_fits(learner, X, y, expected, name, rtol=1e-6):
    """Assert that the predictions of a fitted model are those expected; which of equally good models it is, is free."""
    weights, bias = unpack(learner.normal_equation(X, y), "weights", "bias")
    assert_shape(weights, X.shape[1:], name="weights")
    assert_array(learner.predict(X, weights, bias), expected, name=f"the predictions {name}", rtol=rtol)


@pytest.mark.criterion("rank-deficient")
class TestRankDeficient:
    @pytest.mark.edges
    def test_feature_that_is_the_sum_of_others(self, learner, rng):
        X, y = draw(rng, 9, 2)
        expected = predictions(X, *least_squares(X, y))
        assert_fits(learner, np.column_stack([X, X[:, 0] + X[:, 1]]), y, expected, "with the sum of both features")
        assert_fits(learner, np.column_stack([X, 2 * X[:, 1]]), y, expected, "with a feature twice")

    @pytest.mark.edges
    def test_feature_that_never_changes(self, learner, rng):
        X, y = draw(rng, 9, 2)
        expected = predictions(X, *least_squares(X, y))
        for constant in (1.0, 0.0, float(rng.uniform(2, 5))):
            wide = np.column_stack([X[:, :1], np.full(9, constant), X[:, 1:]])
            assert_fits(learner, wide, y, expected, "with a feature that is always the same")

    @pytest.mark.edges
    def test_small_feature_is_not_one_that_depends_on_others(self, learner, rng):
        """Spreads of 2e-6, 1 and 6 at right angles; X^T X squares their ratio, and leaves three digits of sixteen."""
        axes, _ = np.linalg.qr(np.column_stack([np.ones(12), rng.normal(size=(12, 3))]))
        parts = axes[:, 1:] * np.sqrt(12)  # what the features contribute: of one size, whatever their spread
        y = parts @ rng.choice([-1.0, 1.0], 3) + 2
        X = parts * np.array([2e-6, 1.0, 6.0])
        assert_fits(learner, X, y, y, "with a feature that is small beside the others", rtol=1e-3)

    @pytest.mark.edges
    def test_fewer_samples_than_features(self, learner, rng):
        X, y = rng.normal(size=(4, 7)), rng.normal(size=4)
        assert_fits(learner, X, y, y, "where every sample can be met")

    @pytest.mark.edges
    def test_single_sample(self, learner, rng):
        X, y = rng.normal(size=(1, 2)), rng.normal(size=1)
        assert_fits(learner, X, y, y, "of a single sample")


@pytest.mark.criterion("offsets")
class TestOffsets:
    @pytest.mark.edges
    @pytest.mark.parametrize("offset", [1e4, 3e4, 1e6])
    def test_features_far_from_zero(self, learner, rng, offset):
        """X^T X of such data has entries of 1e12, whose last digits are all that tells the samples apart."""
        X, y = draw(rng, 15, 3)
        expected = predictions(X, *least_squares(X, y))
        far = X + offset * rng.choice([-1.0, 1.0], 3)
        assert_fits(learner, far, y, expected, f"of features {offset:.0e} away from 0", rtol=1e-5)

    @pytest.mark.edges
    def test_features_and_targets_far_from_zero(self, learner, rng):
        """What rounding leaves of the means of centred features, some 1e-10, is multiplied by a mean that y keeps."""
        X, y = draw(rng, 61, 3)
        far, targets = X + 1e6, y + 3e6
        expected, _ = least_squares(far - 1e6, targets - 3e6)
        weights, _ = unpack(learner.normal_equation(far, targets), "weights", "bias")
        assert_array(weights, expected, name="weights", rtol=1e-6)

    @pytest.mark.edges
    def test_targets_far_from_zero(self, learner, rng):
        X, y = draw(rng, 12, 2)
        weights, bias = least_squares(X, y)
        found, _ = unpack(learner.normal_equation(X + 1e6, y + 1e5), "weights", "bias")
        assert_array(found, weights, name="weights", rtol=1e-4)
        assert_fits(learner, X, y + 1e5, predictions(X, weights, bias + 1e5), "of targets 1e5 away from 0", rtol=1e-9)


@pytest.mark.criterion("gradient-descent")
class TestGradientDescent:
    def test_every_step_from_zeros(self, learner, rng):
        X, y = draw(rng, 8, 3)
        rate, steps = float(rng.uniform(0.005, 0.02)), int(rng.integers(3, 7))
        with unchanged(X, y):
            weights, bias, losses = unpack(learner.fit_gradient_descent(X, y, rate, steps), "weights", "bias", "losses")
        expected = descent(X, y, rate, steps)
        assert_array(weights, expected[0], name="weights", terms=100)
        assert_array(bias, expected[1], name="bias", terms=100)
        assert_array(np.array(losses), np.array(expected[2]), name="losses", terms=100)

    @pytest.mark.purity
    def test_each_call_begins_anew(self, learner, rng):
        X, y = draw(rng, 6, 2)
        expected = descent(X, y, 0.01, 2)
        for call in ("first", "second"):
            result = learner.fit_gradient_descent(X, y, 0.01, 2)
            weights, bias, losses = unpack(result, "weights", "bias", "losses")
            assert_equal(len(losses), 3, name=f"number of losses of the {call} call")
            assert_array(weights, expected[0], name=f"weights of the {call} call", terms=100)
            assert_array(bias, expected[1], name=f"bias of the {call} call", terms=100)

    @pytest.mark.edges
    def test_no_step_leaves_zeros(self, learner, rng):
        X, y = draw(rng, 5, 2)
        weights, bias, losses = unpack(learner.fit_gradient_descent(X, y, 0.1, 0), "weights", "bias", "losses")
        assert_array(weights, np.zeros(2), name="weights")
        assert_array(bias, 0.0, name="bias")
        assert_array(np.array(losses), np.array([loss(y, np.zeros(5))]), name="losses")

    @pytest.mark.dtype
    def test_descent_over_whole_numbers(self, learner, rng):
        X, y = rng.integers(-3, 4, (7, 2)), rng.integers(-3, 4, 7)
        weights, _, _ = unpack(learner.fit_gradient_descent(X, y, 0.05, 4), "weights", "bias", "losses")
        assert_array(weights, descent(X, y, 0.05, 4)[0], name="weights", terms=50)

    @pytest.mark.dtype
    def test_descent_in_single_precision(self, learner, rng):
        X, y = (each.astype(np.float32) for each in draw(rng, 6, 3))
        weights, _, _ = unpack(learner.fit_gradient_descent(X, y, 0.01, 3), "weights", "bias", "losses")
        assert_array(weights, descent(X, y, 0.01, 3)[0], name="weights", dtype="float32", terms=50)

    @pytest.mark.refusals
    def test_descent_on_unsuitable_shapes_is_refused(self, learner, rng):
        for table, targets in WRONG_SAMPLES:
            with pytest.raises(ValueError):
                learner.fit_gradient_descent(rng.normal(size=table), rng.normal(size=targets), 0.1, 2)

    @pytest.mark.refusals
    def test_unsuitable_rates_and_counts_are_refused(self, learner, rng):
        X, y = draw(rng, 4, 2)
        for rate, steps in ((0.0, 2), (-0.1, 2), (0.1, -1)):
            with pytest.raises(ValueError):
                learner.fit_gradient_descent(X, y, rate, steps)


@pytest.mark.criterion("learns")
class TestLearns:
    def test_descent_arrives_at_the_least_squares(self, learner, rng):
        """In a turned frame the curvatures are 2 and below; after 400 steps at most 0.9^400 = 5e-19 is left."""
        axes, _ = np.linalg.qr(np.column_stack([np.ones(30), rng.normal(size=(30, 3))]))
        X = axes[:, 1:] * np.sqrt(30) * rng.uniform(0.5, 1.0, 3)  # features without mean, each at right angles
        y = X @ rng.normal(size=3) + 2 + rng.normal(0, 0.1, 30)
        weights, bias, losses = unpack(learner.fit_gradient_descent(X, y, 0.4, 400), "weights", "bias", "losses")
        assert_equal(len(losses), 401, name="number of losses")
        expected = least_squares(X, y)
        assert_array(weights, expected[0], name="weights", rtol=1e-6)
        assert_array(bias, expected[1], name="bias", rtol=1e-6)
        assert_array(losses[-1], loss(y, predictions(X, *expected)), name="the last loss", rtol=1e-6)

    def test_curve_becomes_a_line_in_more_features(self, learner, rng):
        x = np.sort(rng.uniform(-2, 2, 40))
        y = 1 - 2 * x + 0.5 * x**2 + x**3
        features = learner.polynomial_features(x[:, np.newaxis], 3)
        Z, _, std = unpack(learner.standardize(features), "Z", "mean", "std")
        weights, bias = unpack(learner.normal_equation(Z, y), "weights", "bias")
        assert_array(learner.predict(Z, weights, bias), y, name="the predictions", rtol=1e-6)
        assert_array(weights / std, np.array([-2.0, 0.5, 1.0]), name="weights / std", rtol=1e-6)
        assert_array(learner.r2_score(y, learner.predict(Z, weights, bias)), 1.0, name="R^2", rtol=1e-9)
