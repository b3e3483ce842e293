"""Hidden tests of stage s17: self-attention of several heads with one fused projection."""

import numpy as np
import pytest

from grader.testing import (
    assert_array,
    assert_differ,
    assert_equal,
    assert_gradient,
    assert_shape,
    plain_array,
    unchanged,
)
from hidden.s17_transformer_blocks import checks, oracles

pytestmark = pytest.mark.values

# Shapes of grad_output where (2, 3, 4) is expected.
OTHER_SHAPES = [(3, 4), (6, 4), (1, 3, 4), (3, 2, 4), (2, 4, 3), (2, 3, 1), (1, 2, 3, 4), (2, 3, 1, 4)]


def new_layer(learner, p, num_heads):
    """Return a learner's layer with these parameters."""
    layer = learner.MultiheadSelfAttention(len(p["output_bias"]), num_heads)
    layer.params = p
    return layer


def check_weights(layer, x, p, num_heads, mask=None):
    """Compare the attention weights with the oracle's."""
    layer.forward(x, mask)
    assert_array(layer.attention_weights, oracles.multihead(x, p, num_heads, mask)[1], name="attention_weights")


def check_output(layer, x, p, num_heads, mask=None):
    """Compare the output with the oracle's."""
    assert_array(layer.forward(x, mask), oracles.multihead(x, p, num_heads, mask)[0])


@pytest.mark.criterion("fused-projection")
class TestFusedProjection:
    @pytest.mark.parametrize("num_heads, head_dim", [(2, 5), (4, 2), (1, 4), (5, 1), (3, 3)])
    def test_any_shapes(self, learner, rng, num_heads, head_dim):
        dim = num_heads * head_dim
        p = oracles.draw_multihead(rng, dim)
        layer = new_layer(learner, p, num_heads)
        for batch, seq in (oracles.draw_sizes(rng, 2), (1, 3)):
            x = rng.normal(size=(batch, seq, dim))
            with unchanged(x):
                check_weights(layer, x, p, num_heads)

    def test_a_feature_reaches_its_own_head_only(self, learner, rng):
        p = oracles.draw_multihead(rng, 6)
        x = rng.normal(size=(2, 4, 6))
        layer = new_layer(learner, p, 3)
        layer.forward(x)
        before = layer.attention_weights
        changed = p["qkv_bias"].copy()
        changed[3] += 1.0  # of the queries, the second feature of the middle one of three heads
        layer.params = {**p, "qkv_bias": changed}
        layer.forward(x)
        moved = np.abs(plain_array(layer.attention_weights) - plain_array(before)).max(axis=(0, 2, 3)) > 1e-9
        assert_array(moved, np.array([False, True, False]), name="which heads' attention weights changed")

    def test_new_parameters(self, learner, rng, seed):
        layers = [learner.MultiheadSelfAttention(64, 4, rng=np.random.default_rng(seed)) for _ in range(2)]
        first, again = (layer.params for layer in layers)
        for name, shape in (("qkv_weights", (64, 192)), ("output_weights", (64, 64))):
            assert_shape(first[name], shape, name=name)
            assert_array(again[name], first[name], name=f"{name} of a second layer from an equal generator")
            assert_array(np.std(first[name]), 1 / 8, rtol=0.2, atol=0, name=f"standard deviation of {name}")
            assert_array(np.mean(first[name]), 0.0, atol=0.03, name=f"mean of {name}")
        parts = {float(first["qkv_weights"][0, column]) for column in (0, 64, 128)} | {
            float(first["output_weights"][0, 0])
        }
        assert_equal(len(parts), 4, name="number of different matrices among queries, keys, values and output")
        assert_array(first["qkv_bias"], np.zeros(192), name="qkv_bias")
        assert_array(first["output_bias"], np.zeros(64), name="output_bias")
        check_weights(layers[0], rng.normal(size=(1, 3, 64)), first, 4)

    @pytest.mark.purity
    def test_without_a_generator_every_layer_is_another(self, learner):
        first, second = (learner.MultiheadSelfAttention(4, 2).params["qkv_weights"] for _ in range(2))
        assert_differ(first, second, shape=(4, 12), name="qkv_weights of two new layers")


@pytest.mark.criterion("multihead-attention")
class TestOutput:
    @pytest.mark.parametrize("num_heads, head_dim", [(2, 5), (4, 2), (1, 4), (5, 1), (3, 3), (1, 1)])
    def test_any_shapes(self, learner, rng, num_heads, head_dim):
        dim = num_heads * head_dim
        p = oracles.draw_multihead(rng, dim)
        layer = new_layer(learner, p, num_heads)
        for batch, seq in (oracles.draw_sizes(rng, 2), (1, 3), (3, 1), (3, 3)):
            x = rng.normal(size=(batch, seq, dim))
            with unchanged(x):
                check_output(layer, x, p, num_heads)

    def test_the_latest_parameters_are_used(self, learner, rng):
        layer = learner.MultiheadSelfAttention(6, 3, rng=rng)
        for _ in range(2):
            x, p = rng.normal(size=(2, 4, 6)), oracles.draw_multihead(rng, 6)
            layer.params = p
            check_output(layer, x, p, 3)

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        x, p = rng.normal(size=(2, 3, 6)), oracles.draw_multihead(rng, 6)
        layer = new_layer(learner, {name: value.astype(np.float32) for name, value in p.items()}, 2)
        result = layer.forward(x.astype(np.float32))
        assert_array(result, oracles.multihead(x, p, 2)[0], dtype="float32", rtol=1e-4)

    @pytest.mark.dtype
    def test_integers_have_outputs_with_fractions(self, learner, rng):
        x, p = rng.integers(-2, 3, size=(2, 3, 6)), oracles.draw_multihead(rng, 6)
        check_output(new_layer(learner, p, 2), x, p, 2)

    @pytest.mark.refusals
    def test_heads_that_cannot_share_the_features_are_refused(self, learner):
        for dim, num_heads in ((8, 3), (4, 8), (8, 0), (8, -2), (0, 2), (-8, 2)):
            with pytest.raises(ValueError):
                learner.MultiheadSelfAttention(dim, num_heads)

    @pytest.mark.refusals
    def test_x_of_another_shape_is_refused(self, learner, rng):
        layer = learner.MultiheadSelfAttention(4, 2, rng=rng)
        for shape in ((4,), (3, 4), (1, 2, 3, 4), (2, 3, 1, 4), (2, 3, 8), (2, 3, 1)):
            with pytest.raises(ValueError):
                layer.forward(rng.normal(size=shape))


@pytest.mark.criterion("multihead-masks")
class TestMasks:
    @pytest.mark.parametrize(
        "shape", [(5, 5), (3, 1, 1, 5), (2, 5, 5), (3, 1, 5, 5), (3, 2, 5, 5), (1, 2, 1, 5)], ids=str
    )
    def test_any_mask_that_broadcasts(self, learner, rng, shape):
        x, p = rng.normal(size=(3, 5, 6)), oracles.draw_multihead(rng, 6)  # batch 3, seq 5, two heads
        mask, layer = oracles.draw_mask(rng, shape), new_layer(learner, p, 2)
        with unchanged(x, mask):
            check_output(layer, x, p, 2, mask)
        check_weights(layer, x, p, 2, mask.astype(int))
        check_output(layer, x, p, 2)

    @pytest.mark.edges
    def test_queries_without_keys(self, learner, rng):
        x, p = rng.normal(size=(2, 4, 6)), oracles.draw_multihead(rng, 6)
        mask, layer = oracles.draw_mask(rng, (2, 3, 4, 4), empty_row=True), new_layer(learner, p, 3)
        check_output(layer, x, p, 3, mask)
        check_weights(layer, x, p, 3, mask)

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        x, p, mask = rng.normal(size=(2, 3, 6)), oracles.draw_multihead(rng, 6), oracles.draw_mask(rng, (3, 3))
        layer = new_layer(learner, {name: value.astype(np.float32) for name, value in p.items()}, 2)
        result = layer.forward(x.astype(np.float32), mask)
        assert_array(result, oracles.multihead(x, p, 2, mask)[0], dtype="float32", rtol=1e-4)

    @pytest.mark.refusals
    def test_a_mask_that_does_not_broadcast_is_refused(self, learner, rng):
        layer = learner.MultiheadSelfAttention(6, 2, rng=rng)
        for shape in ((4, 4), (3, 5), (3, 5, 5), (3, 5, 1, 5), (4, 3, 2, 5, 5)):
            with pytest.raises(ValueError):
                layer.forward(rng.normal(size=(3, 5, 6)), np.ones(shape, dtype=bool))


def check_backward(layer, x, p, num_heads, grad_output, mask=None):
    """Compare the gradients after forward and backward with numerical ones."""
    layer.forward(x, mask)
    with unchanged(grad_output):
        grad_x = layer.backward(grad_output)

    def output(x, p):
        return oracles.multihead(x, p, num_heads, mask)[0]

    of_x, of_p = checks.numerical_gradients(output, grad_output, x, p)
    assert_gradient(grad_x, of_x, name="grad_x")
    checks.assert_gradients(layer.grads, of_p)


@pytest.mark.criterion("multihead-gradients")
class TestBackward:
    @pytest.mark.parametrize("num_heads", [1, 2, 3, 6])
    def test_any_number_of_heads(self, learner, rng, num_heads):
        p = oracles.draw_multihead(rng, 6)
        layer = new_layer(learner, p, num_heads)
        assert_equal(layer.grads, {}, name="grads before backward")
        for batch, seq in ((2, 4), (1, 1)):
            x, grad_output = rng.normal(size=(2, batch, seq, 6))
            check_backward(layer, x, p, num_heads, grad_output)

    @pytest.mark.parametrize("shape", [(2, 2, 4, 4), (2, 1, 1, 4)], ids=str)
    def test_masks(self, learner, rng, shape):
        p, mask = oracles.draw_multihead(rng, 4), oracles.draw_mask(rng, shape)
        x, grad_output = rng.normal(size=(2, 2, 4, 4))
        check_backward(new_layer(learner, p, 2), x, p, 2, grad_output, mask)

    @pytest.mark.edges
    def test_queries_without_keys(self, learner, rng):
        p, mask = oracles.draw_multihead(rng, 4), oracles.draw_mask(rng, (2, 2, 4, 4), empty_row=True)
        x, grad_output = rng.normal(size=(2, 2, 4, 4))
        check_backward(new_layer(learner, p, 2), x, p, 2, grad_output, mask)

    @pytest.mark.purity
    def test_twice_backward_is_as_good_as_once(self, learner, rng):
        x, grad_output = rng.normal(size=(2, 2, 3, 4))
        p = oracles.draw_multihead(rng, 4)
        layer = new_layer(learner, p, 2)
        layer.forward(x)
        once, grads = layer.backward(grad_output), layer.grads
        assert_array(layer.backward(grad_output), once, name="second grad_x")
        assert_equal(sorted(grads), sorted(p), name="names of grads")
        checks.assert_gradients(layer.grads, grads)

    @pytest.mark.refusals
    def test_grad_output_of_another_shape_is_refused(self, learner, rng):
        layer = learner.MultiheadSelfAttention(4, 2, rng=rng)
        layer.forward(rng.normal(size=(2, 3, 4)))
        for shape in OTHER_SHAPES:
            with pytest.raises(ValueError):
                layer.backward(rng.normal(size=shape))
