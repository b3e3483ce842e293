"""Hidden tests of stage s06: the model, its loss and gradient, and R^2."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_gradient, numerical_gradient, unchanged
from hidden.s06_linear_regression.oracles import (
    WRONG_SAMPLES,
    draw,
    explained,
    gradient,
    loss,
    predictions,
    unpack,
)

pytestmark = pytest.mark.values
WRONG_PAIRS = (
    *(((), ()), ((2, 3), (2, 3)), ((0,), (0,)), ((4,), (3,))),
    *(((4,), (4, 1)), ((4,), (1,)), ((1,), (4,)), ((4,), ())),
)


@pytest.mark.criterion("predict")
class TestPredictAnySamples:
    @pytest.mark.parametrize(("samples", "features"), [(7, 3), (1, 4), (5, 1)])
    def test_predictions_of_any_model(self, learner, rng, samples, features):
        X, _ = draw(rng, samples, features)
        weights, bias = rng.normal(size=features), float(rng.normal())
        with unchanged(X, weights):
            result = learner.predict(X, weights, bias)
        assert_array(result, predictions(X, weights, bias), terms=features + 1)

    @pytest.mark.dtype
    def test_single_precision_is_kept(self, learner, rng):
        X, weights = rng.normal(size=(6, 3)).astype(np.float32), rng.normal(size=3).astype(np.float32)
        result = learner.predict(X, weights, 0.5)
        assert_array(result, predictions(X, weights, 0.5), dtype="float32", terms=4)

    @pytest.mark.dtype
    def test_predictions_of_whole_numbers_keep_their_fractions(self, learner, rng):
        X, weights = rng.integers(-9, 10, (5, 3)), rng.integers(-9, 10, 3)
        assert_array(learner.predict(X, weights, 0.5), predictions(X, weights, 0.5), terms=4)

    @pytest.mark.refusals
    def test_tables_and_weights_that_do_not_fit_are_refused(self, learner, rng):
        for table, weights in (((4, 3), (4,)), ((4, 3), (3, 1)), ((4, 3), (1,)), ((3,), (3,)), ((2, 4, 3), (3,))):
            with pytest.raises(ValueError):
                learner.predict(rng.normal(size=table), rng.normal(size=weights), 0.5)
        with pytest.raises(ValueError):
            learner.predict(np.zeros((0, 3)), np.ones(3), 0.5)
        with pytest.raises(ValueError):
            learner.predict(rng.normal(size=(2, 4, 3)), rng.normal(size=(4, 3)), 0.5)


@pytest.mark.criterion("mse-loss")
class TestLossOfAnyPredictions:
    @pytest.mark.parametrize("samples", [1, 3, 9])
    def test_loss_of_any_predictions(self, learner, rng, samples):
        y_true, y_pred = rng.normal(2, 3, (2, samples))
        with unchanged(y_true, y_pred):
            assert_array(learner.mse_loss(y_true, y_pred), loss(y_true, y_pred), terms=samples)

    @pytest.mark.dtype
    def test_loss_of_unsigned_whole_numbers(self, learner, rng):
        """The difference of two uint8 wraps round below 0, and its square from 256 on."""
        y_true, y_pred = rng.permutation(250)[:6].astype(np.uint8), rng.permutation(250)[:6].astype(np.uint8)
        y_true[0], y_pred[0] = 250, 10
        assert_array(learner.mse_loss(y_true, y_pred), loss(y_true, y_pred), terms=6)

    @pytest.mark.refusals
    def test_shapes_are_compared_before_anything_is_subtracted(self, learner, rng):
        for one, other in WRONG_PAIRS:
            with pytest.raises(ValueError):
                learner.mse_loss(rng.normal(size=one), rng.normal(size=other))


@pytest.mark.criterion("mse-gradient")
class TestGradientOfAnyModel:
    @pytest.mark.parametrize(("samples", "features"), [(8, 3), (1, 2), (6, 1)])
    def test_gradient_at_any_predictions(self, learner, rng, samples, features):
        X, y = draw(rng, samples, features)
        y_pred = rng.normal(size=samples)
        with unchanged(X, y, y_pred):
            result = unpack(learner.mse_gradient(X, y, y_pred), "grad_weights", "grad_bias")
        grad_weights, grad_bias = gradient(X, y, y_pred)
        assert_array(result[0], grad_weights, name="grad_weights", terms=samples)
        assert_array(result[1], grad_bias, name="grad_bias", terms=samples)

    def test_agrees_with_differences_of_the_own_loss(self, learner, rng):
        X, y = draw(rng, 7, 3)
        at = rng.normal(size=4)

        def own_loss(model):
            return learner.mse_loss(y, learner.predict(X, model[1:], float(model[0])))

        slopes = numerical_gradient(own_loss, at)
        y_pred = learner.predict(X, at[1:], float(at[0]))
        grad_weights, grad_bias = unpack(learner.mse_gradient(X, y, y_pred), "grad_weights", "grad_bias")
        assert_gradient(grad_weights, slopes[1:], name="grad_weights")
        assert_gradient(np.array(grad_bias), slopes[0], name="grad_bias")

    @pytest.mark.dtype
    def test_gradient_in_single_precision(self, learner, rng):
        X, y = (each.astype(np.float32) for each in draw(rng, 6, 3))
        grad_weights, _ = unpack(learner.mse_gradient(X, y, y[::-1].copy()), "grad_weights", "grad_bias")
        assert_array(grad_weights, gradient(X, y, y[::-1])[0], name="grad_weights", dtype="float32", terms=6)

    @pytest.mark.dtype
    def test_gradient_of_whole_numbers_keeps_its_fractions(self, learner, rng):
        X, y = rng.integers(1, 7, (7, 3)), rng.integers(-9, 10, 7)
        y_pred = y + rng.permutation(np.eye(7, dtype=np.int64)[0])  # so that every slope is some sevenths
        grad_weights, grad_bias = unpack(learner.mse_gradient(X, y, y_pred), "grad_weights", "grad_bias")
        expected = gradient(X, y, y_pred)
        assert_array(grad_weights, expected[0], name="grad_weights", terms=7)
        assert_array(grad_bias, expected[1], name="grad_bias", terms=7)

    @pytest.mark.refusals
    def test_gradient_of_unsuitable_shapes_is_refused(self, learner, rng):
        for table, targets in WRONG_SAMPLES:
            X, y = rng.normal(size=table), rng.normal(size=targets)
            with pytest.raises(ValueError):
                learner.mse_gradient(X, y, y)
        X, y = draw(rng, 4, 3)
        for wrong in ((3,), (4, 1), (1,), (4, 3)):
            with pytest.raises(ValueError):
                learner.mse_gradient(X, y, rng.normal(size=wrong))
            with pytest.raises(ValueError):
                learner.mse_gradient(X, rng.normal(size=wrong), y)


@pytest.mark.criterion("r2-score")
class TestScoreOfAnyPredictions:
    @pytest.mark.parametrize("samples", [2, 9])
    def test_score_of_any_predictions(self, learner, rng, samples):
        y_true = rng.normal(5, 2, samples)
        y_pred = y_true + rng.normal(0, 0.7, samples)
        with unchanged(y_true, y_pred):
            assert_array(learner.r2_score(y_true, y_pred), explained(y_true, y_pred), rtol=1e-8)

    def test_mean_scores_zero_and_worse_scores_less(self, learner, rng):
        y_true = rng.normal(3, 1, 8)
        assert_array(learner.r2_score(y_true, np.full(8, np.mean(y_true))), 0.0, atol=1e-9)
        worse = -y_true
        assert_array(learner.r2_score(y_true, worse), explained(y_true, worse), rtol=1e-8)

    @pytest.mark.edges
    def test_targets_that_do_not_vary(self, learner, rng):
        """The mean of equal numbers may differ from them in the last digit, and their computed variance from 0."""
        for value in (0.1, float(rng.normal()), 0.0):
            y_true = np.full(int(rng.integers(3, 12)), value)
            assert_array(learner.r2_score(y_true, y_true.copy()), 1.0, name="R^2 where every prediction is right")
            y_pred = y_true.copy()
            for error in (0.5, 1e-9):
                y_pred[1] = value + error
                name = f"R^2 where one prediction is {error} off"
                assert_array(learner.r2_score(y_true, y_pred), 0.0, name=name)

    @pytest.mark.edges
    def test_one_sample_is_right_or_not(self, learner):
        assert_array(learner.r2_score(np.array([2.0]), np.array([2.0])), 1.0)
        assert_array(learner.r2_score(np.array([2.0]), np.array([3.0])), 0.0)

    @pytest.mark.dtype
    def test_whole_numbers_are_scored(self, learner, rng):
        y_true, y_pred = rng.permutation(6), rng.permutation(6)
        assert_array(learner.r2_score(y_true, y_pred), explained(y_true, y_pred), rtol=1e-8, atol=1e-12)

    @pytest.mark.dtype
    def test_unsigned_whole_numbers_are_scored(self, learner, rng):
        y_true, y_pred = rng.permutation(250)[:6].astype(np.uint8), rng.permutation(250)[:6].astype(np.uint8)
        y_true[:2], y_pred[0] = [250, 200], 10
        assert_array(learner.r2_score(y_true, y_pred), explained(y_true, y_pred), rtol=1e-8, atol=1e-12)

    @pytest.mark.refusals
    def test_score_of_unsuitable_shapes_is_refused(self, learner, rng):
        for one, other in WRONG_PAIRS:
            with pytest.raises(ValueError):
                learner.r2_score(rng.normal(size=one), rng.normal(size=other))
