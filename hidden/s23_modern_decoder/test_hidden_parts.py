"""Hidden tests of stage s23: RMS norm and the gated MLP, forward and backward."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_shape, plain_array, unchanged
from hidden.s23_modern_decoder import oracles
from hidden.s23_modern_decoder.oracles import assert_gradients, assert_output, parts

pytestmark = pytest.mark.values

# torch 2.13.0 in float64: rms_norm with eps=1e-5, of sin and cos of small numbers, with gammas 1.5, -0.5 and 2
NORM_GRAD = [[2.0970475, 0.3765783, -0.3485181], [-1.9600218, -0.2452087, -0.0948936]]
NORM_GAMMA = [-0.1967760, 1.3323604, -0.9121392]


def draw_vectors(rng, shape):
    """Return vectors, some of them nearly zero, where it shows what eps is and where it stands; and a gamma."""
    x = rng.normal(size=shape) * rng.choice([1e-3, 1.0, 30.0], size=(*shape[:-1], 1)) + rng.choice([0.0, 2.0])
    return x, rng.uniform(0.5, 2, size=shape[-1]) * rng.choice([-1.0, 1.0], size=shape[-1])


@pytest.mark.criterion("rms-norm")
class TestRmsNorm:
    def test_any_leading_axes(self, learner, rng):
        for shape in ((4, 5), (2, 3, 6), (7,), (3, 1)):
            x, gamma = draw_vectors(rng, shape)
            for options in ({}, {"eps": 1e-5}, {"eps": 1e-2}):
                output, _ = parts(learner.rms_norm_forward(x, gamma, **options), ("output", "cache"))
                eps = options.get("eps", 1e-6)
                assert_output(output, lambda outside, x=x, g=gamma, eps=eps: oracles.rms(x, g, eps, outside))

    @pytest.mark.edges
    def test_vectors_of_zeros_and_of_large_numbers(self, learner, rng):
        gamma, x = rng.normal(size=3), 1e100 * rng.normal(size=(2, 3))
        for vectors, expected in ((np.zeros((2, 3)), np.zeros((2, 3))), (x, oracles.rms(x, gamma, 0.0))):
            output, _ = parts(learner.rms_norm_forward(vectors, gamma), ("output", "cache"))
            assert_array(output, expected)

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        x, gamma = rng.normal(size=(4, 5)), rng.normal(size=5)
        output, _ = parts(learner.rms_norm_forward(x.astype("f4"), gamma.astype("f4")), ("output", "cache"))
        assert_array(output, oracles.rms(x, gamma).astype("f4"), dtype="float32")

    @pytest.mark.purity
    def test_arguments_stay_as_they_are(self, learner, rng):
        x, gamma = rng.normal(size=(4, 5)), rng.normal(size=5)
        with unchanged(x, gamma):
            learner.rms_norm_forward(x, gamma)

    @pytest.mark.refusals
    def test_a_gamma_of_another_size(self, learner):
        for shape in ((3,), (1,), (5,), (2, 4), ()):
            with pytest.raises(ValueError):
                learner.rms_norm_forward(np.ones((5, 4)), np.ones(shape))


@pytest.mark.criterion("rms-norm-gradients")
class TestRmsNormGradients:
    def test_finite_differences(self, learner, rng):
        for shape in ((3, 4), (2, 2, 3), (5,)):
            x, gamma, grad = rng.normal(size=shape) + 0.5, rng.normal(size=shape[-1]), rng.normal(size=shape)
            output, cache = parts(learner.rms_norm_forward(x, gamma, 0.1), ("output", "cache"))
            outside = oracles.closest(output, lambda outside, x=x, g=gamma: oracles.rms(x, g, 0.1, outside))
            expected = oracles.numerical_gradients(
                lambda p, outside=outside: oracles.rms(p["x"], p["gamma"], 0.1, outside),
                grad,
                {"x": x, "gamma": gamma},
                ("x", "gamma"),
            )
            assert_gradients(learner.rms_norm_backward(grad, cache), expected)

    def test_another_framework(self, learner):
        x, grad = np.sin(np.arange(6.0)).reshape(2, 3), np.cos(np.arange(6.0)).reshape(2, 3)
        _, cache = parts(learner.rms_norm_forward(x, np.array([1.5, -0.5, 2.0]), 1e-5), ("output", "cache"))
        grad_x, grad_gamma = parts(learner.rms_norm_backward(grad, cache), ("grad_x", "grad_gamma"))
        assert_array(grad_x, NORM_GRAD, rtol=1e-4, name="grad_x")  # eps may stand outside of the root
        assert_array(grad_gamma, NORM_GAMMA, rtol=1e-4, name="grad_gamma")

    @pytest.mark.purity
    def test_grad_output_stays_as_it_is_and_a_cache_serves_twice(self, learner, rng):
        x, gamma, grad_output = rng.normal(size=(3, 4)), rng.normal(size=4), rng.normal(size=(3, 4))
        _, cache = parts(learner.rms_norm_forward(x, gamma), ("output", "cache"))
        with unchanged(grad_output):
            first = parts(learner.rms_norm_backward(grad_output, cache), ("grad_x", "grad_gamma"))
        again = parts(learner.rms_norm_backward(grad_output, cache), ("grad_x", "grad_gamma"))
        for name, one, other, shape in zip(("grad_x", "grad_gamma"), first, again, ((3, 4), (4,)), strict=True):
            assert_shape(one, shape, name=name)
            assert_array(other, plain_array(one), name=f"{name} of a second call")

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        grad, x, gamma = (rng.normal(size=shape).astype("f4") for shape in ((4, 5), (4, 5), (5,)))
        _, cache = parts(learner.rms_norm_forward(x, gamma), ("output", "cache"))
        for name, value in zip(("grad_x", "grad_gamma"), learner.rms_norm_backward(grad, cache), strict=True):
            assert_array(value, np.asarray(plain_array(value), dtype=float), name=name, dtype="float32")

    @pytest.mark.refusals
    def test_a_gradient_of_another_shape(self, learner):
        _, cache = parts(learner.rms_norm_forward(np.ones((4, 5)), np.ones(5)), ("output", "cache"))
        for shape in ((4, 4), (3, 5), (5,), (1, 5)):
            with pytest.raises(ValueError):
                learner.rms_norm_backward(np.ones(shape), cache)


def draw_mlp(rng, leading, dim=4, hidden=3, dim_out=5):
    """Return x and the weights of a gated MLP."""
    shapes = ((*leading, dim), (dim, hidden), (dim, hidden), (hidden, dim_out))
    return tuple(rng.normal(size=shape) for shape in shapes)


@pytest.mark.criterion("swiglu")
class TestSwiglu:
    def test_any_leading_axes(self, learner, rng):
        for leading in ((3,), (2, 3), (), (2, 1, 2)):
            arrays = draw_mlp(rng, leading)
            output, _ = parts(learner.swiglu_forward(*arrays), ("output", "cache"))
            assert_array(output, oracles.swiglu(*arrays), terms=10)

    @pytest.mark.edges
    def test_gates_of_any_size(self, learner, rng):
        gates, up = np.array([[1000.0, -1000.0, 0.0, 40.0, -40.0]]), rng.uniform(1, 2, size=(1, 5))
        output, _ = parts(learner.swiglu_forward(np.ones((1, 1)), gates, up, np.eye(5)), ("output", "cache"))
        small = -40 * np.exp(-40.0)
        assert_array(output, up * np.array([[1000.0, 0.0, 0.0, 40.0, small]]))

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        arrays = [array.astype("f4") for array in draw_mlp(rng, (2, 3))]
        output, _ = parts(learner.swiglu_forward(*arrays), ("output", "cache"))
        expected = oracles.swiglu(*(array.astype(float) for array in arrays)).astype("f4")
        assert_array(output, expected, dtype="float32", terms=10)

    @pytest.mark.purity
    def test_arguments_stay_as_they_are(self, learner, rng):
        x, W_gate, W_up, W_down = draw_mlp(rng, (2, 3))
        with unchanged(x, W_gate, W_up, W_down):
            learner.swiglu_forward(x, W_gate, W_up, W_down)

    @pytest.mark.refusals
    def test_weights_that_do_not_fit(self, learner, rng):
        x, gate, up, down = draw_mlp(rng, (2, 3))
        for wrong in ((x[..., :3], gate, up, down), (x, gate, up[:, :1], down), (x, gate, up, down[:1])):
            with pytest.raises(ValueError):
                learner.swiglu_forward(*wrong)


@pytest.mark.criterion("swiglu-gradients")
class TestSwigluGradients:
    @pytest.mark.parametrize("leading", [(3,), (2, 3)], ids=str)
    def test_finite_differences(self, learner, rng, leading):
        arrays = dict(zip(("x", "W_gate", "W_up", "W_down"), draw_mlp(rng, leading), strict=True))
        grad_output = rng.normal(size=(*leading, 5))
        _, cache = parts(learner.swiglu_forward(*arrays.values()), ("output", "cache"))
        expected = oracles.numerical_gradients(lambda p: oracles.swiglu(*p.values()), grad_output, arrays, list(arrays))
        with unchanged(grad_output):
            found = learner.swiglu_backward(grad_output, cache)
        assert_gradients(found, expected)

    @pytest.mark.edges
    def test_gates_of_any_size(self, learner, rng):
        gates = np.array([[1000.0, -1000.0]])
        up, grad = rng.uniform(1, 2, size=(1, 2)), rng.uniform(1, 2, size=(1, 2))
        _, cache = parts(learner.swiglu_forward(np.ones((1, 1)), gates, up, np.eye(2)), ("output", "cache"))
        names = ("grad_x", "grad_W_gate", "grad_W_up", "grad_W_down")
        _, grad_gate, grad_up, _ = parts(learner.swiglu_backward(grad, cache), names)
        assert_array(grad_gate, grad * up * [[1, 0]], name="grad_W_gate")
        assert_array(grad_up, grad * [[1000, 0]], name="grad_W_up")

    @pytest.mark.refusals
    def test_a_gradient_of_another_shape(self, learner, rng):
        _, cache = parts(learner.swiglu_forward(*draw_mlp(rng, (2, 3))), ("output", "cache"))
        for shape in ((2, 3, 4), (3, 5), (2, 2, 5), (6, 5), (1, 2, 3, 5)):
            with pytest.raises(ValueError):
                learner.swiglu_backward(np.ones(shape), cache)
