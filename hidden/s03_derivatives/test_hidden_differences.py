"""Hidden tests of stage s03: finite differences of functions whose quotients are known in closed form."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, unchanged
from hidden.s03_derivatives.oracles import CLOSE, bumps, sine_quotient, waves, waves_jacobian

pytestmark = pytest.mark.values

FAST = 7e4  # sin(7e4 x) turns by 0.7 within a step of 1e-5, so that the quotient shows which step was taken


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
        assert_array(learner.finite_difference(lambda t: t * t, int(rng.integers(2, 9)), h=0.5) % 2, 0.0)

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
        assert_array(gradient, waves_jacobian(weights, coupling, FAST, x, 1e-5), rtol=CLOSE, dtype="float64")

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
        assert_array(jacobian, waves_jacobian(weights, coupling, FAST, x, 1e-5), rtol=CLOSE, dtype="float64")

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
        assert_array(found, hessian(x), rtol=1e-4, atol=1e-4 * max(1.0, f(x)), dtype="float64")

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


def in_turn(size, largest, other, passes):
    """Yield where errors are, as ones among zeros, and in words: from one entry to all, or the other way round.

    What judges all errors together stumbles over the last of those that pass; what is too lax over the first of those
    that do not.
    """
    one, another = (np.arange(size) == place for place in (largest, other))
    places = [(one, "the largest entry"), (another, "another entry"), (np.ones(size), "every entry")]
    return places if passes else places[::-1]


@pytest.mark.criterion("gradient-check")
class TestGradientCheck:
    @pytest.mark.parametrize("sign", [-1, 1], ids=["too-small", "too-large"])
    @pytest.mark.parametrize("scale", [1.0, 1e4])
    def test_tolerance_is_relative_to_large_gradients(self, learner, rng, scale, sign):
        """The largest entry of the gradient, the last, has the size scale; errors are a part of tolerance * scale.

        They are in the largest entry, in another, and in all: so different ways of judging give different answers.
        """
        slopes, x = scale * np.append(rng.uniform(-0.5, 0.5, size=2), sign), rng.normal(size=3) / scale
        assert_equal(learner.gradient_check(lambda x: float(x @ x), lambda x: 2 * x, np.ones(3)), True)
        for part, passes in ((0.6, True), (1.6, False)):
            for places, where in in_turn(3, 2, int(rng.integers(2)), passes):
                error = sign * part * 1e-6 * scale * places
                found = learner.gradient_check(lambda x: float(slopes @ x), lambda x, e=error: slopes + e, x)
                assert_equal(found, passes, name=f"result for an error of {part:g} times the limit in {where}")
            found = learner.gradient_check(
                lambda x: float(slopes @ x), lambda x, e=error: slopes + 1e3 * e, x, tolerance=1e-3
            )
            assert_equal(found, passes, name=f"result for {part:g} times a tolerance of 1e-3")

    def test_tolerance_is_absolute_for_small_gradients(self, learner, rng):
        slopes, x = 1e-3 * rng.uniform(-1, 1, size=(2, 3)), rng.normal(size=(2, 3))
        assert_equal(learner.gradient_check(lambda x: float((x * x).sum()), lambda x: 2 * x, np.ones((2, 3))), True)
        for size, passes in ((6e-7, True), (1.6e-6, False)):
            for places, where in in_turn(6, int(np.abs(slopes).argmax()), int(np.abs(slopes).argmin()), passes):
                error = size * places.reshape(2, 3)
                found = learner.gradient_check(lambda x: float((slopes * x).sum()), lambda x, e=error: slopes + e, x)
                assert_equal(found, passes, name=f"result for an error of {size:g} in {where}")

    def test_an_error_as_large_as_the_tolerance_passes(self, learner, rng):
        """All numbers are eighths of moderate size, so that no implementation rounds."""
        slopes, x = rng.integers(-8, 9, size=4) / 8, rng.integers(-8, 9, size=4) / 4
        for error, passes in ((0.5, True), (0.625, False)):
            for places, where in in_turn(4, int(np.abs(slopes).argmax()), int(np.abs(slopes).argmin()), passes):
                claimed = slopes + error * places
                found = learner.gradient_check(
                    lambda x: float(slopes @ x), lambda x, g=claimed: g, x, h=0.25, tolerance=0.5
                )
                assert_equal(found, passes, name=f"result for an error of {error:g} in {where} where 0.5 is allowed")

    def test_the_step_of_the_numerical_gradient(self, learner, rng):
        weights, x = rng.uniform(0.5, 1, size=3), rng.uniform(-3e-6, 3e-6, size=3)

        def f(x):
            return float((weights * np.sin(FAST * x)).sum())

        for given, h in (({}, 1e-5), ({"h": 3e-5}, 3e-5)):
            for claimed, passes in ((h, True), (2 * h, False)):
                gradient = weights * sine_quotient(FAST, x, claimed)
                found = learner.gradient_check(f, lambda x, g=gradient: g, x, **given)
                assert_equal(found, passes, name=f"result for the quotient of step {claimed:g}, with {given or 'no h'}")

    @pytest.mark.dtype
    def test_both_functions_are_given_float64(self, learner, rng):
        seen = set()

        def f(x):
            seen.add((str(x.dtype), x.shape))
            return float((x * x).sum())

        def grad_f(x):
            seen.add((str(x.dtype), x.shape))
            return 2 * x

        x = rng.integers(1, 5, size=(3, 2))
        with unchanged(x):
            assert_equal(learner.gradient_check(f, grad_f, x), True)
        assert_equal(seen, {("float64", (3, 2))}, name="dtypes and shapes that the functions were given")

    @pytest.mark.edges
    def test_nan_and_infinity_do_not_pass(self, learner, rng):
        x = rng.normal(size=3)
        for wrong in (np.nan, np.inf, -np.inf):
            claimed = np.where(np.arange(3) == int(rng.integers(3)), wrong, 2 * x)
            found = learner.gradient_check(lambda x: float((x * x).sum()), lambda x, g=claimed: g, x)
            assert_equal(found, False, name=f"result with an entry of {wrong}")

    @pytest.mark.refusals
    def test_what_cannot_be_is_refused(self, learner, rng):
        x = np.full(3, rng.normal())
        for claimed in (x[:1], x[None], x[:, None], x[:2]):
            with pytest.raises(ValueError):
                learner.gradient_check(lambda x: float((x * x).sum() / 2), lambda x, g=claimed: g, x)
        with pytest.raises(ValueError):
            learner.gradient_check(lambda x: float((x * x).sum() / 2), lambda x: x, x, h=0.0)
        with pytest.raises(ValueError):
            learner.gradient_check(np.sin, np.cos, x)
