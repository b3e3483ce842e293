"""Hidden tests of stage s19: the decoder block, forward and backward."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_differ, assert_equal, assert_gradient, assert_shape, unchanged
from hidden.s19_encoder_decoder import checks, oracles
from hidden.s19_encoder_decoder.checks import assert_output

pytestmark = pytest.mark.values


def new_block(learner, p, num_heads):
    """Return a learner's block with these parameters."""
    dim, hidden_dim = p["mlp.W1"].shape
    block = learner.DecoderBlock(dim, num_heads, mlp_ratio=hidden_dim / dim)
    oracles.load_block(block, p)
    return block


def draw(rng, batch, target, source, dim, hidden_dim):
    """Return x, memory and parameters."""
    p = oracles.draw(rng, oracles.block_shapes(dim, hidden_dim))
    return rng.normal(size=(batch, target, dim)) + 1, rng.normal(size=(batch, source, dim)), p


def check_forward(block, x, memory, p, num_heads, mask=None):
    """Compare the output of a block with the oracle's; return the convention that it keeps to."""
    result = block.forward(x, memory) if mask is None else block.forward(x, memory, mask)
    return assert_output(result, lambda variant: oracles.decoder_block(x, memory, p, num_heads, mask, variant))


@pytest.mark.criterion("decoder-block")
class TestForward:
    def test_any_shapes(self, learner, rng):
        for heads in (1, 2, 4):
            x, memory, p = draw(rng, *oracles.draw_sizes(rng, 3), 4, 6)
            block = new_block(learner, p, heads)
            check_forward(block, x, memory, p, heads)

    def test_padding_of_the_source(self, learner, rng):
        x, memory, p = draw(rng, 2, 3, 4, 4, 6)
        block, mask = new_block(learner, p, 2), oracles.draw_mask(rng, 2, 4)
        check_forward(block, x, memory, p, 2, mask)
        check_forward(block, x, memory, p, 2, mask.astype(int))

    def test_padding_of_a_source_as_long_as_the_target(self, learner, rng):
        x, memory, p = draw(rng, 3, 3, 3, 4, 6)
        check_forward(new_block(learner, p, 2), x, memory, p, 2, oracles.draw_mask(rng, 3, 3))

    def test_its_cross_attention_is_a_layer_of_its_own(self, learner, rng):
        x, memory, p = draw(rng, 2, 3, 4, 4, 6)
        layer, mask = new_block(learner, p, 2).cross_attention, oracles.draw_mask(rng, 2, 4)
        expected = oracles.cross_attention(x, memory, oracles.below(p, "cross_attention"), 2, mask)[0]
        assert_array(layer.forward(x, memory, mask), expected)

    @pytest.mark.edges
    def test_one_position_and_one_source_token(self, learner, rng):
        x, memory, p = draw(rng, 1, 1, 1, 4, 3)
        check_forward(new_block(learner, p, 2), x, memory, p, 2)

    @pytest.mark.purity
    def test_inputs_stay_as_they_are(self, learner, rng):
        x, memory, p = draw(rng, 2, 3, 4, 4, 6)
        block, mask = new_block(learner, p, 2), oracles.draw_mask(rng, 2, 4)
        with unchanged(x, memory, mask):
            block.forward(x, memory, mask)
            block.backward(np.ones_like(x))

    def test_new_parameters(self, learner, seed):
        first, again = (learner.DecoderBlock(24, 3, rng=np.random.default_rng(seed)).params for _ in range(2))
        shapes = oracles.block_shapes(24, 96)
        assert_equal(sorted(first), sorted(shapes), name="names of params")
        for name, shape in shapes.items():
            assert_shape(first[name], shape, name=name)
            assert_array(again[name], first[name], name=f"{name} of a second block from an equal generator")
        weights = ("self_attention.qkv_weights", "cross_attention.key_weights", "mlp.W1", "mlp.W2")
        one, other = (learner.DecoderBlock(6, 2).params for _ in range(2))
        smaller = oracles.block_shapes(6, 24)
        for name in weights:
            deviation = shapes[name][0] ** -0.5
            assert_array(np.std(first[name]), deviation, rtol=0.3, atol=0, name=f"standard deviation of {name}")
            assert_differ(one[name], other[name], shape=smaller[name], name=f"{name} of two new blocks")

    def test_hidden_units_are_a_whole_number(self, learner):
        for ratio, hidden_dim in ((1.45, 8), (0.5, 3), (2, 12)):
            block = learner.DecoderBlock(6, 2, ratio)
            assert_shape(block.mlp.params["b1"], (hidden_dim,), name=f"b1 of an MLP of ratio {ratio}")

    def test_params_are_live(self, learner, rng):
        block = learner.DecoderBlock(4, 2, 1.5)
        assert_equal(block.grads, {}, name="grads before backward")
        for _ in range(2):
            p = oracles.draw(rng, oracles.block_shapes(4, 6))
            oracles.load_block(block, p)
            params = block.params
            assert_equal(sorted(params), sorted(p), name="names of params")
            for name, value in p.items():
                assert_array(params[name], value, name=f"params[{name!r}]")

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        x, memory, p = draw(rng, 2, 3, 4, 4, 6)
        block = new_block(learner, {name: value.astype(np.float32) for name, value in p.items()}, 2)
        result = block.forward(x.astype(np.float32), memory.astype(np.float32))
        variant = check_forward(new_block(learner, p, 2), x, memory, p, 2)
        expected = oracles.decoder_block(x, memory, p, 2, None, variant)
        assert_array(result, expected, dtype="float32", rtol=1e-3)

    @pytest.mark.refusals
    def test_what_does_not_go_together_is_refused(self, learner, rng):
        block = learner.DecoderBlock(4, 2, rng=rng)
        for x, memory in (
            ((3, 4), (2, 5, 4)),
            ((2, 3, 4), (5, 4)),
            ((2, 3, 4), (1, 5, 4)),
            ((2, 3, 5), (2, 5, 4)),
            ((2, 3, 4), (2, 5, 3)),
            ((2, 2, 3, 4), (2, 5, 4)),
        ):
            with pytest.raises(ValueError):
                block.forward(rng.normal(size=x), rng.normal(size=memory))
        with pytest.raises(ValueError):
            block.forward(rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 5, 4)), np.ones((2, 4), dtype=bool))
        for num_heads in (3, 0):
            with pytest.raises(ValueError):
                learner.DecoderBlock(4, num_heads)


def check_backward(block, x, memory, p, num_heads, grad_output, mask=None):
    """Compare the gradients after forward and backward with numerical ones."""
    variant = check_forward(block, x, memory, p, num_heads, mask)
    grad_x, grad_memory = block.backward(grad_output)

    def output(arrays):
        return oracles.decoder_block(arrays["x"], arrays["memory"], arrays, num_heads, mask, variant)

    expected = checks.numerical_gradients(output, grad_output, {"x": x, "memory": memory, **p})
    assert_gradient(grad_x, expected.pop("x"), name="grad_x")
    assert_gradient(grad_memory, expected.pop("memory"), name="grad_memory")
    checks.assert_gradients(block.grads, expected)


@pytest.mark.criterion("decoder-block-gradients")
class TestBackward:
    def test_last_forward_and_last_backward_count(self, learner, rng):
        p = oracles.draw(rng, oracles.block_shapes(4, 3))
        block = new_block(learner, p, 2)
        for batch, target, source in ((2, 3, 4), (1, 2, 3)):
            x, memory, _ = draw(rng, batch, target, source, 4, 3)
            check_backward(block, x, memory, p, 2, rng.normal(size=x.shape))

    def test_padding(self, learner, rng):
        x, memory, p = draw(rng, 2, 3, 4, 3, 4)
        check_backward(
            new_block(learner, p, 1), x, memory, p, 1, rng.normal(size=x.shape), oracles.draw_mask(rng, 2, 4)
        )

    @pytest.mark.purity
    def test_twice_backward_is_as_good_as_once(self, learner, rng):
        x, memory, p = draw(rng, 2, 3, 4, 4, 6)
        block = new_block(learner, p, 2)
        block.forward(x, memory)
        with unchanged(x):
            once, grads = block.backward(x), block.grads
        assert_equal(sorted(grads), sorted(p), name="names of grads")
        for name, first, second in zip(("grad_x", "grad_memory"), once, block.backward(x), strict=True):
            assert_array(second, first, name=f"second {name}")
        checks.assert_gradients(block.grads, grads)

    @pytest.mark.refusals
    def test_grad_output_of_another_shape_is_refused(self, learner, rng):
        block = learner.DecoderBlock(4, 2, rng=rng)
        block.forward(rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 5, 4)))
        for shape in ((3, 4), (1, 3, 4), (2, 1, 4), (2, 5, 4), (2, 3, 1), (1, 2, 3, 4)):
            with pytest.raises(ValueError):
                block.backward(rng.normal(size=shape))

    @pytest.mark.refusals
    def test_backward_needs_a_forward(self, learner):
        with pytest.raises(RuntimeError) as caught:
            learner.DecoderBlock(4, 2).backward(np.ones((2, 3, 4)))
        if isinstance(caught.value, NotImplementedError):
            raise caught.value
