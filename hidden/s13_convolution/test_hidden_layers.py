"""Hidden tests of stage s13: the layers as objects."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_differ, assert_equal, assert_shape, unchanged
from hidden.s13_convolution import oracles

pytestmark = pytest.mark.values


def assert_refused_before_forward(layer, shape):
    """Assert that backward raises RuntimeError as long as forward has not been called."""
    with pytest.raises(RuntimeError) as caught:
        layer.backward(np.ones(shape))
    if isinstance(caught.value, NotImplementedError):
        raise caught.value


@pytest.mark.criterion("conv-layer")
class TestConv2D:
    @pytest.mark.parametrize("kernel_size, stride, padding", [(3, 2, 1), (2, 1, 2), (4, 3, 0), (1, 1, 0)])
    def test_any_layer(self, learner, rng, kernel_size, stride, padding):
        channels, filters = oracles.draw_sizes(rng, 2)
        layer = learner.Conv2D(channels, filters, kernel_size, stride, padding, rng)
        W, b = rng.normal(size=(filters, channels, kernel_size, kernel_size)), rng.normal(size=filters)
        layer.params = {"weights": W, "bias": b}
        for batch in (3, 1):
            x = rng.normal(size=(batch, channels, 8, 7))
            expected = oracles.convolve(x, W, b, stride, padding)
            with unchanged(x):
                assert_array(layer.forward(x), expected, terms=W[0].size)
            grad_output = rng.normal(size=expected.shape)
            grad_x, grad_W, grad_b = oracles.convolve_gradients(grad_output, x, W, stride, padding)
            terms = grad_output.size
            assert_array(layer.backward(grad_output), grad_x, terms=terms, name="grad_x")
            oracles.assert_grads(layer.grads, {"weights": grad_W, "bias": grad_b}, terms=terms)

    def test_stride_is_1_and_padding_0_in_a_layer_unless_given(self, learner, rng):
        layer = learner.Conv2D(3, 2, 3, rng=rng)
        assert_shape(layer.forward(rng.normal(size=(2, 3, 8, 7))), (2, 2, 6, 5))
        layer = learner.Conv2D(3, 2, 3, padding=1)
        assert_shape(layer.forward(rng.normal(size=(2, 3, 8, 7))), (2, 2, 8, 7))

    def test_a_new_layer_computes_with_its_own_parameters(self, learner, rng):
        layer = learner.Conv2D(2, 3, 3, rng=rng)
        assert_equal(layer.grads, {}, name="grads")
        x, params = rng.normal(size=(2, 2, 5, 6)), layer.params
        expected = oracles.convolve(x, params["weights"], params["bias"])
        assert_array(layer.forward(x), expected, terms=18)

    def test_new_weights(self, learner, seed):
        """Of 24,000 weights the mean is within 7 standard errors of 0, the deviation within 11 of what it should be."""
        first, again, other = (
            learner.Conv2D(15, 64, 5, rng=np.random.default_rng(each)).params for each in (seed, seed, seed + 1)
        )
        weights = first["weights"]
        assert_shape(weights, (64, 15, 5, 5), name="params['weights']")
        assert_array(first["bias"], np.zeros(64), name="params['bias']")
        deviation = (2 / 375) ** 0.5
        assert_array(weights.mean(), 0.0, atol=7 * deviation / 24000**0.5, name="mean of the weights")
        assert_array(weights.std(), deviation, rtol=0.05, name="standard deviation of the weights")
        assert_array(again["weights"], weights, name="weights from a generator of the same seed")
        of = "weights of two different seeds"
        assert_differ(weights, other["weights"], shape=(64, 15, 5, 5), name=of, everywhere=True)

    @pytest.mark.purity
    def test_without_a_generator_each_layer_is_drawn_afresh(self, learner):
        first, second = (learner.Conv2D(3, 4, 3).params["weights"] for _ in range(2))
        assert_differ(first, second, shape=(4, 3, 3, 3), name="weights of two layers", everywhere=True)

    @pytest.mark.dtype
    def test_single_precision_stays_in_a_layer(self, learner, rng):
        layer = learner.Conv2D(2, 3, 2)
        x, W, b = (rng.normal(size=size).astype(np.float32) for size in ((2, 2, 4, 5), (3, 2, 2, 2), 3))
        layer.params = {"weights": W, "bias": b}
        assert_array(layer.forward(x), oracles.convolve(x, W, b), terms=8, dtype=np.float32)

    def test_gradients_are_replaced_and_belong_to_the_last_forward(self, learner, rng):
        layer = learner.Conv2D(2, 3, 2, rng=rng)
        layer.forward(rng.normal(size=(2, 2, 6, 6)))
        W, x, grad_output = layer.params["weights"], rng.normal(size=(1, 2, 4, 5)), rng.normal(size=(1, 3, 3, 4))
        layer.forward(x)
        grad_x, grad_W, grad_b = oracles.convolve_gradients(grad_output, x, W)
        for which in ("first", "second"):
            assert_array(layer.backward(grad_output), grad_x, terms=12, name=f"{which} grad_x")
            oracles.assert_grads(layer.grads, {"weights": grad_W, "bias": grad_b}, terms=12)

    @pytest.mark.refusals
    def test_errors_of_a_layer(self, learner, rng):
        layer = learner.Conv2D(2, 3, 2, rng=rng)
        assert_refused_before_forward(layer, (1, 3, 3, 4))
        with pytest.raises(ValueError):
            layer.forward(np.ones((1, 3, 4, 5)))
        with pytest.raises(ValueError):
            layer.forward(np.ones((2, 4, 5)))
        layer.forward(np.ones((1, 2, 4, 5)))
        with pytest.raises(ValueError):
            layer.backward(np.ones((1, 3, 4, 3)))


@pytest.mark.criterion("other-layers")
class TestOtherLayers:
    @pytest.mark.parametrize("arguments, size, stride", [((), 2, 2), ((3,), 3, 3), ((3, 2), 3, 2), ((2, 1), 2, 1)])
    def test_any_pooling_layer(self, learner, rng, arguments, size, stride):
        layer = learner.MaxPool2D(*arguments)
        for batch in (2, 1):
            x = oracles.draw_distinct(rng, (batch, 3, 7, 6))
            expected = oracles.pool(x, size, stride, np.max)
            assert_array(layer.forward(x), expected)
            grad_output = rng.normal(size=expected.shape)
            right = oracles.max_pool_gradient(grad_output, x, size, stride)
            assert_array(layer.backward(grad_output), right, terms=9, name="grad_x")
        assert_equal([layer.params, layer.grads], [{}, {}], name="params and grads")

    @pytest.mark.parametrize("axes", [2, 3, 4])
    def test_any_number_of_axes(self, learner, rng, axes):
        layer, x = learner.Flatten(), rng.normal(size=oracles.draw_sizes(rng, axes))
        expected = np.array([list(each.flat) for each in x])
        with unchanged(x):
            assert_array(layer.forward(x), expected)
        assert_array(layer.backward(2 * expected), 2 * x, name="grad_x")
        assert_equal([layer.params, layer.grads], [{}, {}], name="params and grads")

    def test_flatten_goes_back_to_the_last_shape(self, learner, rng):
        layer = learner.Flatten()
        layer.forward(np.ones((3, 2, 2, 3)))
        x = rng.normal(size=(2, 3, 4, 5))
        assert_array(layer.backward(layer.forward(x)), x, name="grad_x")

    @pytest.mark.dtype
    def test_single_precision_stays_in_both(self, learner, rng):
        x = oracles.draw_distinct(rng, (2, 3, 4, 6)).astype(np.float32)
        assert_array(learner.MaxPool2D().forward(x), oracles.pool(x, 2, 2, np.max), dtype=np.float32)
        assert_array(learner.Flatten().forward(x), x.reshape(2, 72), dtype=np.float32)

    @pytest.mark.refusals
    def test_errors_of_pooling(self, learner):
        layer = learner.MaxPool2D()
        assert_refused_before_forward(layer, (2, 3, 2, 3))
        with pytest.raises(ValueError):
            layer.forward(np.ones((3, 4, 6)))
        layer.forward(np.ones((2, 3, 4, 6)))
        with pytest.raises(ValueError):
            layer.backward(np.ones((2, 3, 3, 2)))

    @pytest.mark.refusals
    def test_errors_of_flatten(self, learner):
        for shape in [(2, 6, 4), (4, 12), (24, 2), (2, 2, 3, 4), (48,), (2, 1), (24,)]:
            layer = learner.Flatten()
            assert_refused_before_forward(layer, (2, 24))
            layer.forward(np.ones((2, 3, 2, 4)))
            with pytest.raises(ValueError):
                layer.backward(np.ones(shape))
