"""Hidden tests of stage s22: RMS norm, forward and backward."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_gradient, numerical_gradient, unchanged
from hidden.s22_efficient_attention import oracles

pytestmark = pytest.mark.values


def draw_vectors(rng, shape):
    """Return vectors, some of them nearly zero, where it shows what eps is and where it stands; and a gamma."""
    x = rng.normal(size=shape) * rng.choice([1e-3, 1.0, 30.0], size=(*shape[:-1], 1))
    return x, rng.uniform(0.5, 2, size=shape[-1]) * rng.choice([-1.0, 1.0], size=shape[-1])


@pytest.mark.criterion("rms-norm")
class TestRmsNorm:
    def test_any_leading_axes(self, learner, rng):
        for shape in ((4, 5), (2, 3, 6), (7,), (3, 1)):
            x, gamma = draw_vectors(rng, shape)
            for options in ({}, {"eps": 1e-5}, {"eps": 1e-2}):
                eps = options.get("eps", 1e-6)
                exact, outside = oracles.rms(x, gamma, eps), oracles.rms(x, gamma, eps, outside=True)
                oracles.assert_either(learner.rms_norm(x, gamma, **options), exact, outside)

    def test_the_mean_is_not_subtracted(self, learner, rng):
        x, gamma = rng.normal(size=(4, 5)) + 3, rng.normal(size=5)
        exact, outside = oracles.rms(x, gamma, 1e-6), oracles.rms(x, gamma, 1e-6, outside=True)
        oracles.assert_either(learner.rms_norm(x, gamma), exact, outside)

    @pytest.mark.edges
    def test_vectors_of_zeros_and_of_large_numbers(self, learner, rng):
        gamma = rng.normal(size=3)
        assert_array(learner.rms_norm(np.zeros((2, 3)), gamma), np.zeros((2, 3)))
        x = 1e100 * rng.normal(size=(2, 3))
        assert_array(learner.rms_norm(x, gamma), oracles.rms(x, gamma, 0.0))

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        x, gamma = rng.normal(size=(4, 5)), rng.normal(size=5)
        result = learner.rms_norm(x.astype(np.float32), gamma.astype(np.float32))
        assert_array(result, oracles.rms(x, gamma, 1e-6).astype(np.float32), dtype=np.float32)

    @pytest.mark.dtype
    def test_integers_are_numbers_too(self, learner, rng):
        x, gamma = rng.integers(1, 10, size=(4, 5)), rng.integers(1, 4, size=5)
        x[:, 0] += 10
        exact, outside = oracles.rms(x, gamma, 1e-6), oracles.rms(x, gamma, 1e-6, outside=True)
        oracles.assert_either(learner.rms_norm(x, gamma), exact, outside)

    @pytest.mark.purity
    def test_arguments_stay_as_they_are(self, learner, rng):
        x, gamma = rng.normal(size=(4, 5)), rng.normal(size=5)
        with unchanged(x, gamma):
            learner.rms_norm(x, gamma)

    @pytest.mark.refusals
    def test_a_gamma_of_another_size(self, learner):
        for shape in ((3,), (1,), (5,), (2, 4), ()):
            with pytest.raises(ValueError):
                learner.rms_norm(np.ones((5, 4)), np.ones(shape))


@pytest.mark.criterion("rms-norm-gradients")
class TestRmsNormGradients:
    def test_finite_differences(self, learner, rng):
        for shape in ((3, 4), (2, 2, 3), (5,)):
            x, gamma, grad = rng.normal(size=shape), rng.normal(size=shape[-1]), rng.normal(size=shape)
            for eps in (1e-6, 0.3):
                self.check(learner, grad, x, gamma, eps, (eps,))

    def test_eps_is_a_millionth_by_default(self, learner, rng):
        x = 2e-3 * rng.choice([-1.0, 1.0], size=(3, 4)) * rng.uniform(0.5, 2, size=(3, 4))
        self.check(learner, 1e-3 * rng.normal(size=(3, 4)), x, rng.normal(size=4), 1e-6, ())

    def check(self, learner, grad, x, gamma, eps, given):
        """Compare both gradients with finite differences of the convention that comes closer."""
        result = learner.rms_norm_backward(grad, x, gamma, *given)
        grad_x, grad_gamma = oracles.parts(result, ("grad_x", "grad_gamma"))
        ways = [
            numerical_gradient(lambda x, outside=outside: (oracles.rms(x, gamma, eps, outside) * grad).sum(), x)
            for outside in (False, True)
        ]
        distances = [np.abs(np.asarray(grad_x) - way).max() if np.shape(grad_x) == x.shape else 0 for way in ways]
        outside = bool(distances[1] < distances[0])
        assert_gradient(grad_x, ways[outside], name="grad_x")
        of_gamma = numerical_gradient(lambda gamma: (oracles.rms(x, gamma, eps, outside) * grad).sum(), gamma)
        assert_gradient(grad_gamma, of_gamma, name="grad_gamma")

    def test_another_framework(self, learner):
        """Frozen values: torch 2.13.0, RMSNorm(3, eps=1e-5) in float64, of sin and cos of small numbers."""
        x, grad = np.sin(np.arange(6.0)).reshape(2, 3), np.cos(np.arange(6.0)).reshape(2, 3)
        found = learner.rms_norm_backward(grad, x, np.array([1.5, -0.5, 2.0]), 1e-5)
        grad_x, grad_gamma = oracles.parts(found, ("grad_x", "grad_gamma"))
        right = [[2.0970475, 0.3765783, -0.3485181], [-1.9600218, -0.2452087, -0.0948936]]
        assert_array(grad_x, right, rtol=1e-4, name="grad_x")  # eps may stand outside of the root
        assert_array(grad_gamma, [-0.1967760, 1.3323604, -0.9121392], rtol=1e-4, name="grad_gamma")

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        grad, x, gamma = (rng.normal(size=shape).astype(np.float32) for shape in ((4, 5), (4, 5), (5,)))
        for name, value in zip(("grad_x", "grad_gamma"), learner.rms_norm_backward(grad, x, gamma), strict=True):
            assert_array(value, np.asarray(value, dtype=np.float64), name=name, dtype=np.float32)

    @pytest.mark.dtype
    def test_integers_are_numbers_too(self, learner, rng):
        grad, x, gamma = (rng.integers(1, 10, size=shape) for shape in ((3, 4), (3, 4), (4,)))
        x[:, 0] += 10
        self.check(learner, grad, x, gamma, 1e-6, ())

    @pytest.mark.purity
    def test_arguments_stay_as_they_are(self, learner, rng):
        grad_output, x, gamma = (rng.normal(size=shape) for shape in ((4, 5), (4, 5), (5,)))
        with unchanged(grad_output, x, gamma):
            learner.rms_norm_backward(grad_output, x, gamma)

    @pytest.mark.refusals
    def test_shapes_that_do_not_fit(self, learner):
        for shape in ((4, 4), (3, 5), (5,), (1, 5)):
            with pytest.raises(ValueError):
                learner.rms_norm_backward(np.ones(shape), np.ones((4, 5)), np.ones(5))
        for shape in ((4,), (1,), (), (4, 5)):
            with pytest.raises(ValueError):
                learner.rms_norm_backward(np.ones((4, 5)), np.ones((4, 5)), np.ones(shape))
