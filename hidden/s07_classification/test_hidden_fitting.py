"""Hidden tests of stage s07: the classifier that is fitted."""

import itertools

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, unchanged
from hidden.s07_classification import oracles
from hidden.s07_classification.oracles import draw_classes, unpack

pytestmark = pytest.mark.values


def assert_fitted(result, X, y, num_classes, rate, num_iterations, dtype=None):
    """Assert that result is (weights, bias, losses) of gradient descent from zeros."""
    weights, bias, losses = unpack(result, "weights", "bias", "losses")
    right = oracles.fit(X, y, num_classes, rate, num_iterations)
    rtol = 1e-3 if dtype == "float32" else None
    assert_array(weights, right[0], name="weights", dtype=dtype, rtol=rtol, axes="features classes")
    assert_array(bias, right[1], name="bias", dtype=dtype, rtol=rtol)
    assert_equal(len(losses), num_iterations + 1, name="number of losses")
    assert_array(np.array([float(loss) for loss in losses]), right[2], name="losses", rtol=rtol)


@pytest.mark.criterion("fit-softmax-regression")
class TestFitOfAnything:
    def test_every_step_of_the_fit(self, learner, rng):
        for num_samples, num_features, num_classes in ((9, 2, 4), (7, 3, 2), (6, 1, 3)):
            X, y = rng.normal(size=(num_samples, num_features)), draw_classes(rng, num_samples, num_classes)
            num_iterations, rate = int(rng.integers(2, 6)), float(rng.uniform(0.2, 0.9))
            with unchanged(X, y):
                result = learner.fit_softmax_regression(X, y, num_classes, rate, num_iterations)
            assert_fitted(result, X, y, num_classes, rate, num_iterations)

    @pytest.mark.edges
    def test_no_step_and_classes_that_no_sample_has(self, learner, rng):
        X, y = rng.normal(size=(5, 3)), rng.integers(0, 2, 5)
        assert_fitted(learner.fit_softmax_regression(X, y, 4, 0.5, 0), X, y, 4, 0.5, 0)
        assert_fitted(learner.fit_softmax_regression(X, y, 4, 0.5, 3), X, y, 4, 0.5, 3)

    def test_steps_that_are_too_long_are_taken_as_they_are(self, learner, rng):
        """Classes that overlap: a rate of 15 or more overshoots, and the loss rises from one step to the next."""
        X, y = np.array([[-1.0], [-1.0], [-1.0], [1.0], [1.0], [2.0], [1.5]]), np.array([0, 0, 1, 0, 1, 1, 1])
        rate = float(rng.uniform(15, 25))
        for _ in range(2):
            assert_fitted(learner.fit_softmax_regression(X, y, 2, rate, 3), X, y, 2, rate, 3)

    def test_the_loss_falls_with_every_small_step(self, learner, rng):
        """The curvature is at most half the largest squared length of (x, 1), so that its inverse is a safe rate."""
        X, y = rng.uniform(-2, 2, (12, 3)), draw_classes(rng, 12, 3)
        rate = float(1 / (1 + (X**2).sum(axis=1)).max())
        weights, bias, losses = unpack(learner.fit_softmax_regression(X, y, 3, rate, 15), "weights", "bias", "losses")
        assert_fitted((weights, bias, losses), X, y, 3, rate, 15)
        falls = [later < before for before, later in itertools.pairwise(losses)]
        assert all(falls), f"the losses should fall at every step, but they are {[float(loss) for loss in losses]}"

    @pytest.mark.edges
    def test_large_features_overflow_nothing(self, learner, rng):
        """After one step the logits are size squared: 0.5 size * size, of either sign."""
        size = 1000.0 * float(rng.integers(1, 4))
        X, y = np.array([[size], [-size]]), np.array([0, 1])
        weights, bias, losses = unpack(learner.fit_softmax_regression(X, y, 2, 1.0, 2), "weights", "bias", "losses")
        assert_array(weights, [[size / 2, -size / 2]], name="weights")
        assert_array(bias, [0.0, 0.0], name="bias")
        assert_array(np.array([float(loss) for loss in losses]), [np.log(2), 0.0, 0.0], name="losses")

    @pytest.mark.dtype
    def test_single_precision_and_whole_samples(self, learner, rng):
        X, y = rng.integers(-3, 4, (8, 2)), draw_classes(rng, 8, 3)
        assert_fitted(learner.fit_softmax_regression(X, y, 3, 0.25, 3), X, y, 3, 0.25, 3, dtype="float64")
        single = X.astype(np.float32)
        assert_fitted(learner.fit_softmax_regression(single, y, 3, 0.25, 3), X, y, 3, 0.25, 3, dtype="float32")

    @pytest.mark.refusals
    def test_unsuitable_samples_and_classes_are_refused(self, learner, rng):
        X, y = rng.normal(size=(6, 2)), draw_classes(rng, 6, 3)
        wrong = [(X, y[:-1]), (X, y[:, None]), (X, y[:1]), (X[:, 0], y), (X[:, :, None], y), (X[:0], y[:0])]
        wrong += [(X, y + 1), (X, y - 1), (X, y.astype(float)), (X, y > 0)]
        for samples, classes in wrong:
            with pytest.raises(ValueError):
                learner.fit_softmax_regression(samples, classes, 3, 0.5, 2)

    @pytest.mark.refusals
    def test_unsuitable_rates_and_iterations_are_refused(self, learner, rng):
        X, y = rng.normal(size=(6, 2)), draw_classes(rng, 6, 3)
        for rate, num_iterations in ((0.0, 2), (-0.5, 2), (0.5, -1)):
            with pytest.raises(ValueError):
                learner.fit_softmax_regression(X, y, 3, rate, num_iterations)
