"""Hidden tests of stage s03: finite differences of functions whose quotients are known in closed form."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, plain_array, unchanged
from hidden.s03_derivatives.oracles import CLOSE, FAST, bumps, sine_quotient, waves, waves_jacobian

pytestmark = pytest.mark.values


@pytest.mark.criterion("finite-difference")
class TestFiniteDifference:
    @pytest.mark.parametrize("method", ["forward", "backward", "central"])
    def test_any_point_and_step(self, learner, rng, method):
        for x in rng.uniform(-2, 2, size=3).tolist():
            h = float(rng.uniform(0.1, 0.5))
            found = learner.finite_difference(np.sin, x, h, method)
            assert_array(found, sine_quotient(1.0, x, h, method))
            found = learner.finite_difference(lambda t: np.sin(FAST * t), x, method=method)
            assert_array(found, sine_quotient(FAST, x, 1e-5, method), rtol=CLOSE, atol=CLOSE * FAST)

    def test_central_is_the_default(self, learner, rng):
        x = float(rng.uniform(-2, 2))
        assert_array(learner.finite_difference(np.exp, x, h=0.25), np.exp(x) * np.sinh(0.25) / 0.25)

    @pytest.mark.dtype
    def test_float32_and_integers_are_moved_by_the_whole_step(self, learner, rng):
        x = np.float32(rng.uniform(1, 2))
        assert_array(learner.finite_difference(lambda t: t * t, x), 2 * float(x), rtol=CLOSE)
        assert_array(plain_array(learner.finite_difference(lambda t: t * t, int(rng.integers(2, 9)), h=0.5)) % 2, 0.0)

    @pytest.mark.refusals
    def test_what_cannot_be_is_refused(self, learner, rng):
        for wrong in ({"h": 0.0}, {"h": -float(rng.uniform(1e-6, 1))}, {"method": "Central"}, {"method": None}):
            with pytest.raises(ValueError):
                learner.finite_difference(np.sin, 1.0, **wrong)


def draw_waves(rng, outputs, inputs):
    """Return weights and couplings of so many fast waves, of about one size in their derivatives."""
    shape = (outputs, inputs) if outputs else (inputs,)
    return rng.normal(size=shape), FAST * rng.normal(size=(*shape, inputs))


@pytest.mark.criterion("gradient")
class TestGradient:
    def test_any_point_by_the_step_that_is_the_default(self, learner, rng):
        weights, coupling = draw_waves(rng, 0, 4)
        f, x = waves(weights, coupling, FAST), rng.normal(size=4)
        with unchanged(x):
            gradient = learner.gradient_finite_difference(f, x)
        assert_array(gradient, waves_jacobian(weights, coupling, FAST, x, 1e-5), rtol=CLOSE)

    def test_any_step_and_shape(self, learner, rng):
        for shape in ((3, 2), (2, 1, 3)):
            weights, x, h = rng.normal(size=shape), rng.normal(size=shape), float(rng.uniform(0.1, 0.5))
            gradient = learner.gradient_finite_difference(lambda t, w=weights: (w * np.sin(t)).sum(), x, h)
            assert_array(gradient, weights * sine_quotient(1.0, x, h))

    @pytest.mark.dtype
    def test_float32_and_integers_become_float64(self, learner, rng):
        seen = []

        def f(x):
            seen.append((x.dtype, x.shape))
            return float((x.astype(np.float64) ** 2).sum())

        for x in (rng.normal(size=3).astype(np.float32), rng.integers(1, 9, size=(2, 2))):
            with unchanged(x):
                gradient = learner.gradient_finite_difference(f, x)
            assert_array(gradient, 2 * x.astype(np.float64), rtol=CLOSE, dtype="float64")
            assert_equal({str(dtype) for dtype, _ in seen}, {"float64"}, name="dtypes that f was given")
            assert_equal({shape for _, shape in seen}, {x.shape}, name="shapes that f was given")
            seen.clear()

    @pytest.mark.refusals
    def test_what_cannot_be_is_refused(self, learner, rng):
        x = rng.normal(size=3)
        for f in (lambda x: x[:1], lambda x: x[None, :1], np.sin):
            with pytest.raises(ValueError):
                learner.gradient_finite_difference(f, x)
        for h in (0.0, -1e-5):
            with pytest.raises(ValueError):
                learner.gradient_finite_difference(lambda x: x.sum(), x, h)


@pytest.mark.criterion("jacobian")
class TestJacobian:
    @pytest.mark.parametrize("sizes", [(2, 4), (4, 2), (1, 3), (3, 1), (3, 3)], ids=str)
    def test_any_sizes_by_the_step_that_is_the_default(self, learner, rng, sizes):
        weights, coupling = draw_waves(rng, *sizes)
        f, x = waves(weights, coupling, FAST), rng.normal(size=sizes[1])
        with unchanged(x):
            jacobian = learner.jacobian_finite_difference(f, x)
        assert_array(jacobian, waves_jacobian(weights, coupling, FAST, x, 1e-5), rtol=CLOSE)

    def test_any_step(self, learner, rng):
        weights, coupling = rng.normal(size=(3, 2)), rng.normal(size=(3, 2, 2))
        x, h = rng.normal(size=2), float(rng.uniform(0.1, 0.5))
        jacobian = learner.jacobian_finite_difference(waves(weights, coupling, 1.0), x, h)
        assert_array(jacobian, waves_jacobian(weights, coupling, 1.0, x, h))

    @pytest.mark.dtype
    def test_float32_and_integers_become_float64(self, learner, rng):
        for x in (rng.uniform(1, 2, size=2).astype(np.float32), rng.integers(1, 9, size=2)):
            jacobian = learner.jacobian_finite_difference(lambda t: np.array([t[0] * t[1], t[1] ** 2, t[0]]), x)
            a, b = x.astype(np.float64)
            assert_array(jacobian, [[b, a], [0, 2 * b], [1, 0]], rtol=CLOSE, dtype="float64")

    @pytest.mark.refusals
    def test_what_cannot_be_is_refused(self, learner, rng):
        x = rng.normal(size=3)
        for f in (lambda x: x.sum(), lambda x: x[None], lambda x: x[:, None]):
            with pytest.raises(ValueError):
                learner.jacobian_finite_difference(f, x)
        for wrong in (x[None], x[:, None], np.float64(1.0)):
            with pytest.raises(ValueError):
                learner.jacobian_finite_difference(np.ravel, wrong)
        for h in (0.0, -1e-5):
            with pytest.raises(ValueError):
                learner.jacobian_finite_difference(np.sin, x, h)


@pytest.mark.criterion("hessian")
class TestHessian:
    @pytest.mark.parametrize("size", [1, 2, 4])
    def test_any_point(self, learner, rng, size):
        f, hessian = bumps(rng.normal(size=size), rng.normal(size=size))
        x = rng.normal(size=size)
        with unchanged(x):
            found = learner.hessian_finite_difference(f, x)
        assert_array(found, hessian(x), rtol=1e-4, atol=1e-4 * max(1.0, f(x)))

    def test_errors_shrink_with_the_square_of_the_step(self, learner, rng):
        """Half the step leaves a quarter of the error, and at these steps within 0.2 of it."""
        f, hessian = bumps(np.array([0.3, -0.2, 0.1]), np.array([0.6, -0.9, 0.8]))
        x = rng.uniform(-0.1, 0.1, size=3)
        coarse, fine = (learner.hessian_finite_difference(f, x, h=h) for h in (0.04, 0.02))
        assert_array(coarse, hessian(x), atol=0.01, name="result for h = 0.04")
        assert_array(fine, hessian(x), atol=0.0025, name="result for h = 0.02")
        worst = np.abs(coarse - hessian(x)).max() / np.abs(fine - hessian(x)).max()
        assert_array(worst, 4.0, rtol=0, atol=0.2, name="worst error for h = 0.04 over that for h = 0.02")

    def test_the_default_step(self, learner, rng):
        weights, x, k = rng.normal(size=3), rng.normal(size=3), 7e3

        def f(t):
            return float((weights * np.sin(k * t)).sum() + np.sin(k * t[0]) * np.sin(k * t[1]))

        given = learner.hessian_finite_difference(f, x, h=1e-4)
        assert_array(learner.hessian_finite_difference(f, x), given, rtol=1e-4, name="result without h")

    @pytest.mark.dtype
    def test_float32_and_integers_become_float64(self, learner, rng):
        for x in (rng.uniform(1, 2, size=2).astype(np.float32), rng.integers(1, 5, size=2)):
            found = learner.hessian_finite_difference(lambda t: t[0] ** 2 * t[1], x)
            a, b = x.astype(np.float64)
            assert_array(found, [[2 * b, 2 * a], [2 * a, 0]], rtol=1e-4, dtype="float64")

    @pytest.mark.refusals
    def test_what_cannot_be_is_refused(self, learner, rng):
        x = rng.normal(size=3)
        for f in (lambda x: x[:1], np.sin):
            with pytest.raises(ValueError):
                learner.hessian_finite_difference(f, x)
        for wrong in (x[None], np.float64(1.0)):
            with pytest.raises(ValueError):
                learner.hessian_finite_difference(lambda x: x.sum(), wrong)
        for h in (0.0, -1e-5):
            with pytest.raises(ValueError):
                learner.hessian_finite_difference(lambda x: x.sum(), x, h)
