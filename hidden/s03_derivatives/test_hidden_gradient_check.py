"""Hidden tests of stage s03: what a gradient check finds right and wrong, and where it looks."""

import numpy as np
import pytest

from grader.testing import assert_equal, unchanged
from hidden.s03_derivatives.oracles import FAST, sine_quotient

pytestmark = pytest.mark.values


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

    def test_a_gradient_of_the_other_sign_is_wrong(self, learner, rng):
        slopes, x = rng.uniform(0.5, 2.0, size=4) * rng.choice([-1.0, 1.0], size=4), rng.normal(size=4)
        for claimed, passes, what in (
            (slopes, True, "the gradient"),
            (-slopes, False, "the gradient with the other sign"),
            (np.abs(slopes) * [-1, 1, 1, -1], False, "a gradient some of whose signs are others"),
        ):
            same = bool(np.array_equal(claimed, slopes))
            found = learner.gradient_check(lambda x: float(slopes @ x), lambda x, g=claimed: g, x)
            assert_equal(found, passes or same, name=f"result for {what}")

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
