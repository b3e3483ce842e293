"""Hidden tests of stage s11: each activation and its derivative, and that the two belong together."""

import math

import numpy as np
import pytest

from grader.testing import assert_array, assert_gradient, assert_shape, numerical_gradient, plain_array
from hidden.s11_activations.oracles import NAMES, as_floats, assert_curve, draw_points

pytestmark = pytest.mark.values


@pytest.mark.criterion("relu")
class TestReluAnywhere:
    def test_relu_of_any_points(self, learner, rng):
        z = np.append(draw_points(rng), 0.0)
        assert_curve(learner.relu(z.copy()), "relu", z)

    def test_relu_slope_at_any_points(self, learner, rng):
        z = draw_points(rng)
        assert_curve(as_floats(learner.relu_derivative(z.copy())), "relu_derivative", z)

    @pytest.mark.dtype
    def test_relu_slopes_are_floats(self, learner, rng):
        z = draw_points(rng)
        assert_curve(learner.relu_derivative(z.copy()), "relu_derivative", z, dtype="float64")


@pytest.mark.criterion("leaky-relu")
class TestLeakyReluAnywhere:
    def test_leaky_relu_of_any_points(self, learner, rng):
        z, alpha = np.append(draw_points(rng), 0.0), float(rng.uniform(0.1, 0.8))
        assert_curve(learner.leaky_relu(z.copy()), "leaky_relu", z)
        assert_curve(learner.leaky_relu(z.copy(), alpha), "leaky_relu", z, alpha=alpha)

    def test_leaky_relu_slope_at_any_points(self, learner, rng):
        z, alpha = draw_points(rng), float(rng.uniform(0.1, 0.8))
        assert_curve(learner.leaky_relu_derivative(z.copy()), "leaky_relu_derivative", z)
        assert_curve(learner.leaky_relu_derivative(z.copy(), alpha), "leaky_relu_derivative", z, alpha=alpha)


@pytest.mark.criterion("elu")
class TestEluAnywhere:
    def test_elu_of_any_points(self, learner, rng):
        z, alpha = np.append(draw_points(rng), 0.0), float(rng.uniform(1.5, 3.0))
        assert_curve(learner.elu(z.copy()), "elu", z)
        assert_curve(learner.elu(z.copy(), alpha), "elu", z, alpha=alpha)

    def test_elu_slope_at_any_points(self, learner, rng):
        z, alpha = draw_points(rng), float(rng.uniform(0.2, 0.7))
        assert_curve(learner.elu_derivative(z.copy()), "elu_derivative", z)
        assert_curve(learner.elu_derivative(z.copy(), alpha), "elu_derivative", z, alpha=alpha)


@pytest.mark.criterion("tanh")
class TestTanhAnywhere:
    def test_tanh_of_any_points(self, learner, rng):
        z = np.append(draw_points(rng), 0.0)
        assert_curve(learner.tanh(z.copy()), "tanh", z)

    def test_tanh_slope_at_any_points(self, learner, rng):
        z = np.append(draw_points(rng), 0.0)
        assert_curve(learner.tanh_derivative(z.copy()), "tanh_derivative", z)


@pytest.mark.criterion("softplus")
class TestSoftplusAnywhere:
    def test_softplus_of_any_points(self, learner, rng):
        z = np.append(draw_points(rng), 0.0)
        assert_curve(learner.softplus(z.copy()), "softplus", z)

    def test_softplus_slope_at_any_points(self, learner, rng):
        z = np.append(draw_points(rng), 0.0)
        assert_curve(learner.softplus_derivative(z.copy()), "softplus_derivative", z)


@pytest.mark.criterion("swish")
class TestSwishAnywhere:
    def test_swish_of_any_points(self, learner, rng):
        z, beta = np.append(draw_points(rng), 0.0), float(rng.uniform(1.5, 3.0))
        assert_curve(learner.swish(z.copy()), "swish", z)
        assert_curve(learner.swish(z.copy(), beta), "swish", z, beta=beta)

    def test_swish_slope_at_any_points(self, learner, rng):
        z, beta = np.append(draw_points(rng), 0.0), float(rng.uniform(0.2, 0.7))
        assert_curve(learner.swish_derivative(z.copy()), "swish_derivative", z)
        assert_curve(learner.swish_derivative(z.copy(), beta), "swish_derivative", z, beta=beta)


@pytest.mark.criterion("gelu")
class TestGeluAnywhere:
    def test_gelu_of_any_points_by_erf_or_tanh(self, learner, rng):
        z = np.append(draw_points(rng), [-1.0, 0.0, 1.0])
        assert_curve(learner.gelu(z.copy()), "gelu", z)

    def test_gelu_slope_at_any_points_by_erf_or_tanh(self, learner, rng):
        z = np.append(draw_points(rng), [-1.0, 0.0, 1.0])
        assert_curve(learner.gelu_derivative(z.copy()), "gelu_derivative", z)


@pytest.mark.criterion("mish")
class TestMishAnywhere:
    def test_mish_of_any_points(self, learner, rng):
        z = np.append(draw_points(rng), 0.0)
        assert_curve(learner.mish(z.copy()), "mish", z)

    def test_mish_slope_at_any_points(self, learner, rng):
        z = np.append(draw_points(rng), 0.0)
        assert_curve(learner.mish_derivative(z.copy()), "mish_derivative", z)


def assert_own_slope(learner, name, z, **hyper):
    """Assert that a derivative agrees with central differences of the learner's own function."""
    function, derivative = getattr(learner, name), getattr(learner, f"{name}_derivative")
    slope = numerical_gradient(lambda at: np.sum(function(at, **hyper)), z)
    assert_gradient(as_floats(derivative(z, **hyper)), slope, name=f"{name}_derivative")


def assert_slopes_around_zero(slopes, left, name, right=1.0):
    """Assert that the slopes at -1, 0 and 1 are left (given for -1 and for 0), anything between, and right."""
    assert_shape(slopes, (3,), name=name)
    low, high = [left[0], min(left[1], right), right], [left[0], max(left[1], right), right]
    assert_array(slopes, np.where(np.isfinite(slopes), np.clip(slopes, low, high), low), name=name)


@pytest.mark.criterion("curves")
class TestCurvesAnywhere:
    @pytest.mark.parametrize("name", NAMES)
    def test_slopes_agree_with_differences_of_the_own_curve(self, learner, rng, name):
        """GELU's two forms differ in slope by 1e-4 and more at each of the fixed points."""
        assert_own_slope(learner, name, np.append(draw_points(rng, 6), [-2.5, -1.5, 1.5, 2.5]))

    def test_slopes_with_another_alpha_or_beta(self, learner, rng):
        z = draw_points(rng, 6)
        assert_own_slope(learner, "leaky_relu", z, alpha=float(rng.uniform(0.1, 0.8)))
        assert_own_slope(learner, "elu", z, alpha=float(rng.uniform(0.2, 3.0)))
        assert_own_slope(learner, "swish", z, beta=float(rng.uniform(0.3, 3.0)))

    @pytest.mark.edges
    def test_slope_at_a_kink_lies_between_its_sides(self, learner, rng):
        z, alpha = np.array([-1.0, 0.0, 1.0]), float(rng.uniform(0.1, 0.8))
        assert_slopes_around_zero(learner.relu_derivative(z), (0.0, 0.0), "relu_derivative")
        assert_slopes_around_zero(learner.leaky_relu_derivative(z, alpha), (alpha, alpha), "leaky_relu_derivative")
        for limit in (alpha, 1 / alpha, 1.0):
            left = (limit * math.exp(-1.0), limit)
            assert_slopes_around_zero(learner.elu_derivative(z, limit), left, f"elu_derivative with alpha={limit}")

    def test_curves_and_their_mirror_images(self, learner, rng):
        z = draw_points(rng)
        for name in ("relu", "softplus", "swish", "gelu"):
            function = getattr(learner, name)
            assert_array(function(z.copy()) - function(-z), z, name=f"{name}(z) - {name}(-z)")
        assert_array(
            plain_array(learner.tanh(z)) + plain_array(learner.tanh(-z)),
            np.zeros(z.shape),
            atol=1e-9,
            name="tanh(z) + tanh(-z)",
        )
