"""Hidden tests of stage s13: convolution, its gradients and its speed."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_gradient, numerical_gradient, unchanged
from hidden.s13_convolution import oracles, speed
from hidden.s13_convolution.oracles import SETTINGS, unpack

pytestmark = pytest.mark.values

GRADIENTS = ("grad_x", "grad_W", "grad_b")


def forward(learner, *arguments, **options):
    """Return the learner's output and cache."""
    return unpack(learner.conv2d_forward(*arguments, **options), "out", "cache")


def backward(learner, grad_output, cache):
    """Return the learner's three gradients."""
    return unpack(learner.conv2d_backward(grad_output, cache), *GRADIENTS)


@pytest.fixture
def whole_numbers():
    """Images, kernels and biases for stride 2 and padding 1, of whole numbers."""
    x = (np.arange(80.0) % 7 - 3).reshape(2, 2, 5, 4)
    return x, (np.arange(36.0) % 5 - 2).reshape(3, 2, 3, 2), np.array([1.0, -2.0, 3.0])


@pytest.mark.criterion("conv-forward")
class TestConv2dForward:
    @pytest.mark.parametrize("stride, padding", SETTINGS)
    def test_any_convolution(self, learner, rng, stride, padding):
        x, W, b = oracles.draw_convolution(rng)
        with unchanged(x, W, b):
            out, _ = forward(learner, x, W, b, stride, padding)
        assert_array(out, oracles.convolve(x, W, b, stride, padding), terms=W[0].size, name="out")

    def test_stride_is_1_and_padding_0_in_conv2d_unless_given(self, learner, rng):
        x, W, b = rng.normal(size=(2, 3, 6, 5)), rng.normal(size=(4, 3, 2, 3)), rng.normal(size=4)
        assert_array(forward(learner, x, W, b)[0], oracles.convolve(x, W, b), terms=18, name="out")

    def test_another_framework_computes_the_same(self, learner, whole_numbers):
        """The numbers are those of torch.nn.functional.conv2d(x, W, b, stride=2, padding=1) in PyTorch 2.13."""
        out, _ = forward(learner, *whole_numbers, stride=2, padding=1)
        first = [[[2, -13, -12], [-13, -6, 6], [-6, -4, 9]], [[1, 4, 3], [7, 9, 5], [6, 3, -3]]]
        second = [[[9, 6, 0], [10, -7, -4], [4, -11, -8]], [[-9, 3, -2], [-16, -7, -2], [-1, 8, 2]]]
        last = [[[8, 9, 6], [0, -8, -18], [-4, 8, 3]], [[6, 3, 9], [11, 6, 13], [7, 0, 5]]]
        expected = np.array([[*first, last[0]], [*second, last[1]]], dtype=float)
        assert_array(out, expected, name="out")

    @pytest.mark.dtype
    def test_single_precision_stays_in_conv2d(self, learner, rng):
        x, W, b = (value.astype(np.float32) for value in oracles.draw_convolution(rng))
        out, _ = forward(learner, x, W, b, 1, 1)
        assert_array(out, oracles.convolve(x, W, b, 1, 1), terms=W[0].size, dtype=np.float32, name="out")

    @pytest.mark.refusals
    def test_shapes_that_do_not_fit_are_refused(self, learner):
        for x, W, b in [
            ((3, 5, 4), (2, 3, 2, 2), (2,)),
            ((1, 1, 3, 5, 4), (2, 3, 2, 2), (2,)),
            ((1, 3, 5, 4), (3, 2, 2), (3,)),
            ((1, 3, 5, 4), (2, 3, 2, 2, 1), (2,)),
            ((1, 3, 5, 4), (2, 3, 2), (2,)),
            ((1, 3, 5, 4), (2, 2, 2, 2), (2,)),
            ((1, 3, 5, 4), (3, 2, 2, 2), (3,)),
            ((1, 3, 5, 4), (2, 1, 2, 2), (2,)),
            ((1, 3, 5, 4), (2, 3, 2, 2), (1,)),
            ((1, 3, 5, 4), (2, 3, 2, 2), (3,)),
            ((1, 3, 5, 4), (2, 3, 2, 2), (2, 1)),
            ((1, 3, 5, 4), (2, 3, 2, 2), (1, 2)),
            ((1, 3, 5, 4), (2, 3, 2, 2), ()),
            ((1, 3, 5, 4), (2, 3, 6, 2), (2,)),
            ((1, 3, 5, 4), (2, 3, 2, 5), (2,)),
        ]:
            with pytest.raises(ValueError):
                learner.conv2d_forward(np.ones(x), np.ones(W), np.ones(b))

    @pytest.mark.refusals
    def test_steps_out_of_range_are_refused_in_conv2d(self, learner):
        for stride, padding in [(0, 0), (-1, 0), (1, -1)]:
            with pytest.raises(ValueError):
                learner.conv2d_forward(np.ones((1, 3, 5, 4)), np.ones((2, 3, 2, 2)), np.ones(2), stride, padding)


@pytest.mark.criterion("conv-gradients")
class TestConv2dBackward:
    @pytest.mark.parametrize("stride, padding", SETTINGS)
    def test_gradients_of_any_convolution(self, learner, rng, stride, padding):
        x, W, b = oracles.draw_convolution(rng)
        _, cache = forward(learner, x, W, b, stride, padding)
        grad_output = rng.normal(size=oracles.convolve(x, W, b, stride, padding).shape)
        with unchanged(grad_output):
            grads = backward(learner, grad_output, cache)
        expected = oracles.convolve_gradients(grad_output, x, W, stride, padding)
        for name, actual, right in zip(GRADIENTS, grads, expected, strict=True):
            assert_array(actual, right, terms=grad_output.size, name=name)

    def test_finite_differences_with_stride_and_padding(self, learner, rng):
        x, W, b = rng.normal(size=(2, 1, 4, 3)), rng.normal(size=(3, 1, 3, 2)), rng.normal(size=3)
        _, cache = forward(learner, x, W, b, 2, 1)
        grad_output = rng.normal(size=(2, 3, 2, 2))
        grads = backward(learner, grad_output, cache)

        def loss(x, W, b):
            return np.sum(forward(learner, x, W, b, 2, 1)[0] * grad_output)

        assert_gradient(grads[0], numerical_gradient(lambda each: loss(each, W, b), x), name="grad_x")
        assert_gradient(grads[1], numerical_gradient(lambda each: loss(x, each, b), W), name="grad_W")
        assert_gradient(grads[2], numerical_gradient(lambda each: loss(x, W, each), b), name="grad_b")

    @pytest.mark.purity
    def test_backward_goes_through_the_call_whose_cache_it_gets(self, learner, rng):
        x, W, b = rng.normal(size=(2, 3, 5, 4)), rng.normal(size=(4, 3, 2, 3)), rng.normal(size=4)
        _, cache = forward(learner, x, W, b)
        forward(learner, 2 - x, W + 1, b)
        grad_output = rng.normal(size=(2, 4, 4, 2))
        expected = oracles.convolve_gradients(grad_output, x, W)
        for name, actual, right in zip(GRADIENTS, backward(learner, grad_output, cache), expected, strict=True):
            assert_array(actual, right, terms=100, name=f"{name} of the first of two forward calls, from its cache")

    def test_another_framework_has_the_same_gradients(self, learner, whole_numbers):
        """The numbers are the gradients that PyTorch 2.13 has for the same convolution and grad_output."""
        _, cache = forward(learner, *whole_numbers, stride=2, padding=1)
        grads = backward(learner, (np.arange(54.0) % 4 - 1).reshape(2, 3, 3, 3), cache)
        one = [[[-1, 0, -2, 5], [1, 5, 3, 3], [4, -1, -1, 0], [-1, -5, 1, 5], [-3, -2, 4, -1]]]
        one += [[[-1, -2, 1, -3], [-3, 3, -4, -7], [5, -1, -1, -2], [2, 1, -3, 3], [-1, 4, 5, -1]]]
        two = [[[4, -1, -1, 0], [-1, -5, 1, 5], [-3, -2, 4, -1], [-7, 1, -1, -5], [-2, 5, -3, -2]]]
        two += [[[5, -1, -1, -2], [2, 1, -3, 3], [-1, 4, 5, -1], [3, -1, 2, 1], [1, -3, -1, 4]]]
        assert_array(grads[0], np.array([one, two], dtype=float), name="grad_x")
        kernels = [[[[11, -2], [-11, 5], [-7, 7]], [[7, 4], [-1, -17], [0, -4]]]]
        kernels += [[[[-7, 7], [-4, -1], [-5, 0]], [[0, -4], [-15, 2], [5, 0]]]]
        kernels += [[[[-5, 0], [-1, -15], [13, 5]], [[5, 0], [-9, 9], [-2, 8]]]]
        assert_array(grads[1], np.array(kernels, dtype=float), name="grad_W")
        assert_array(grads[2], [9.0, 7.0, 9.0], name="grad_b")

    @pytest.mark.dtype
    def test_single_precision_stays_in_the_gradients(self, learner, rng):
        x, W, b = (value.astype(np.float32) for value in oracles.draw_convolution(rng))
        _, cache = forward(learner, x, W, b, 2, 1)
        grad_output = rng.normal(size=oracles.convolve(x, W, b, 2, 1).shape).astype(np.float32)
        grads = backward(learner, grad_output, cache)
        expected = oracles.convolve_gradients(*(value.astype(np.float64) for value in (grad_output, x, W)), 2, 1)
        for name, actual, right in zip(GRADIENTS, grads, expected, strict=True):
            assert_array(actual, right.astype(np.float32), terms=grad_output.size, dtype=np.float32, name=name)

    @pytest.mark.refusals
    def test_grad_output_of_other_shapes_is_refused(self, learner):
        for shape in [(2, 4, 3, 5), (4, 2, 5, 3), (2, 4, 15), (2, 4, 5, 1), (1, 4, 5, 3), (2, 4, 5, 3, 1)]:
            _, cache = forward(learner, np.ones((2, 3, 6, 5)), np.ones((4, 3, 2, 3)), np.ones(4))
            with pytest.raises(ValueError):
                learner.conv2d_backward(np.ones(shape), cache)


@pytest.mark.criterion("conv-speed")
class TestConv2dSpeed:
    @pytest.mark.parametrize("stride, padding", [(1, 0), (1, 2), (2, 1)])
    def test_values_do_not_suffer(self, learner, rng, stride, padding):
        x, W, b = rng.normal(size=(2, 3, 12, 17)), rng.normal(size=(4, 3, 3, 3)), rng.normal(size=4)
        out, cache = forward(learner, x, W, b, stride, padding)
        assert_array(out, oracles.convolve(x, W, b, stride, padding), terms=27, name="out")
        grad_output = rng.normal(size=out.shape)
        grads = backward(learner, grad_output, cache)
        expected = oracles.convolve_gradients(grad_output, x, W, stride, padding)
        for name, actual, right in zip(GRADIENTS, grads, expected, strict=True):
            assert_array(actual, right, terms=grad_output.size, name=name)

    @pytest.mark.speed
    def test_forward_is_no_loop(self, learner, rng):
        x, W, b = rng.normal(size=(1, 1, 400, 400)), rng.normal(size=(1, 1, 3, 3)), rng.normal(size=1)
        speed.assert_fast(
            lambda: forward(learner, x, W, b), lambda: speed.seconds_of_forward_loop(x, W), "conv2d_forward"
        )

    @pytest.mark.speed
    def test_backward_is_no_loop(self, learner, rng):
        x, W, b = rng.normal(size=(1, 1, 400, 400)), rng.normal(size=(1, 1, 3, 3)), rng.normal(size=1)
        _, cache = forward(learner, x, W, b)
        grad_output = rng.normal(size=(1, 1, 398, 398))
        speed.assert_fast(
            lambda: backward(learner, grad_output, cache),
            lambda: speed.seconds_of_backward_loop(x, W),
            "conv2d_backward",
        )
