"""Hidden tests of stage s11: numbers, arrays of every kind, and inputs far from zero or next to it."""

import numpy as np
import pytest

from grader.testing import assert_array, unchanged
from hidden.s11_activations.oracles import BOTH, as_floats, assert_curve, draw_points, expected

pytestmark = pytest.mark.values


@pytest.mark.criterion("arrays")
class TestArraysOfEveryKind:
    def test_arrays_of_several_axes(self, learner, rng):
        for shape in ((2, 3, 4), (1, 5)):
            z = draw_points(rng, int(np.prod(shape))).reshape(shape)
            for name in BOTH:
                assert_curve(as_floats(getattr(learner, name)(z.copy())), name, z)

    @pytest.mark.edges
    def test_no_points_at_all(self, learner):
        z = np.zeros((0, 3))
        for name in BOTH:
            assert_curve(getattr(learner, name)(z.copy()), name, z)

    def test_plain_numbers(self, learner, rng):
        for z in draw_points(rng, 2).tolist():
            for name in BOTH:
                assert_curve(getattr(learner, name)(z), name, z, atol=1e-9)

    @pytest.mark.dtype
    def test_whole_numbers(self, learner, rng):
        z = rng.permutation([-4, -3, -2, -1, 1, 2, 3, 4]).reshape(2, 4)
        for name in BOTH:
            result = getattr(learner, name)(z.copy())
            if name == "relu":
                result = as_floats(result)
            assert_curve(result, name, z, dtype="float64" if name == "relu_derivative" else None)

    @pytest.mark.dtype
    def test_single_precision(self, learner, rng):
        z = draw_points(rng, 12).astype(np.float32)
        for name in BOTH:
            assert_curve(getattr(learner, name)(z.copy()), name, z, dtype="float32")

    @pytest.mark.purity
    def test_arguments_are_not_written_to(self, learner, rng):
        z = draw_points(rng)
        for name in BOTH:
            with unchanged(z):
                getattr(learner, name)(z)


@pytest.mark.criterion("extreme-inputs")
@pytest.mark.edges
class TestFarFromZero:
    @pytest.mark.parametrize("sign", [-1, 1], ids=["negative", "positive"])
    def test_no_overflow_far_from_zero(self, learner, rng, sign):
        z = sign * np.append(rng.uniform([20, 40, 80, 200, 400, 700], [40, 80, 200, 400, 700, 760]), 1000.0)
        for name in BOTH:
            assert_curve(getattr(learner, name)(z.copy()), name, z, atol=1e-9)

    @pytest.mark.parametrize("sign", [-1, 1], ids=["negative", "positive"])
    def test_no_shortcut_before_its_time(self, learner, sign):
        """exp(-18) is 2e-8: before that, softplus(z) is not z to nine digits."""
        z = sign * np.array([6.5, 7.5, 8.5, 10.5, 12.5, 15.5, 16.5, 18.5, 20.5, 25.5])
        for name in BOTH:
            assert_curve(getattr(learner, name)(z.copy()), name, z, atol=1e-9)

    @pytest.mark.parametrize("sign", [-1, 1], ids=["negative", "positive"])
    def test_no_overflow_in_single_precision(self, learner, rng, sign):
        """exp overflows float32 beyond 88 already."""
        z = sign * np.append(rng.uniform([20, 40, 80, 200], [40, 80, 200, 700]), 1000.0).astype(np.float32)
        for name in BOTH:
            assert_curve(getattr(learner, name)(z.copy()), name, z, atol=1e-4)

    def test_parameters_far_from_zero(self, learner, rng):
        z, alpha, beta = 1000.0 * np.array([-1.0, -0.5, 0.5, 1.0]), float(rng.uniform(0.2, 0.8)), 1.5
        assert_curve(learner.elu(z.copy(), alpha), "elu", z, alpha=alpha, atol=1e-9)
        assert_curve(learner.elu_derivative(z.copy(), alpha), "elu_derivative", z, alpha=alpha, atol=1e-9)
        assert_curve(learner.swish(z.copy(), beta), "swish", z, beta=beta, atol=1e-9)
        assert_curve(learner.swish_derivative(z.copy(), beta), "swish_derivative", z, beta=beta, atol=1e-9)

    def test_tiny_results_keep_nine_digits(self, learner, rng):
        far, near, large = rng.uniform(-80, -20, 8), -(10.0 ** rng.uniform(-14, -9, 8)), np.array([-1000.0, 1000.0])
        assert_array(learner.softplus(large.copy()), np.maximum(large, 0), name="softplus")
        assert_array(learner.softplus(far), expected("softplus", far), atol=0, name="softplus")
        assert_array(learner.elu(large.copy(), 2.0), np.maximum(large, -2), name="elu with alpha=2")
        assert_array(learner.elu(near), expected("elu", near), atol=0, name="elu")
