"""Hidden tests of stage s18: the decoder block, forward, backward and with a cache."""

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
from hidden.s18_decoder_and_generation import oracles
from hidden.s18_decoder_and_generation.oracles import (
    assert_output,
    block_shapes,
    check_params,
    check_params_refusals,
    decoder_block,
)

pytestmark = pytest.mark.values

# Shapes of x where (batch, seq, 4) is expected, and of grad_output where (2, 3, 4) is.
REFUSED = [(4,), (3, 4), (1, 2, 3, 4), (2, 3, 5), (2, 3, 1)]
OTHER_SHAPES = [(3, 4), (1, 3, 4), (2, 4, 4), (2, 3, 1), (1, 2, 3, 4)]


def new_block(learner, p, num_heads):
    """Return a learner's block with these parameters."""
    block = learner.DecoderBlock(len(p["norm1.gamma"]), num_heads, np.random.default_rng(0))
    block.params = p
    return block


def draw_block(learner, rng, dim, num_heads):
    """Return a learner's block, and its parameters, of both signs and no two alike."""
    p = oracles.draw(rng, block_shapes(dim))
    return new_block(learner, p, num_heads), p


@pytest.mark.criterion("decoder-block")
class TestForward:
    @pytest.mark.parametrize("dim, num_heads", [(6, 2), (3, 1), (4, 4)])
    def test_any_parameters(self, learner, rng, dim, num_heads):
        block, p = draw_block(learner, rng, dim, num_heads)
        for batch, seq in ((2, 5), (3, 1)):
            x = rng.normal(size=(batch, seq, dim))
            variant = assert_output(block.forward(x), lambda variant, x=x: decoder_block(x, p, num_heads, variant)[0])
            expected = decoder_block(x, p, num_heads, variant)[1]
            assert_array(block.attention_weights, expected, name="attention_weights")

    @pytest.mark.purity
    def test_x_and_parameters_stay_as_they_are(self, learner, rng):
        block, p = draw_block(learner, rng, 4, 2)
        x = rng.normal(size=(2, 3, 4))
        with unchanged(x, *p.values()):
            block.forward(x)
        for name, value in p.items():
            assert_array(block.params[name], value, name=f"params[{name!r}]")

    def test_new_blocks(self, learner, seed):
        first, again = (learner.DecoderBlock(24, 3, np.random.default_rng(seed)).params for _ in range(2))
        shapes = block_shapes(24)
        assert_equal(sorted(first), sorted(shapes), name="names of params")
        for name, shape in shapes.items():
            assert_shape(first[name], shape, name=name)
            assert_array(again[name], first[name], name=f"{name} of a second block from an equal generator")
            if len(shape) == 1:
                assert_array(first[name], np.full(shape, float(name.endswith("gamma"))), name=name)
            else:
                assert_array(np.std(first[name]), shape[0] ** -0.5, rtol=0.3, name=f"standard deviation of {name}")
        one, other = (learner.DecoderBlock(6, 2).params["mlp.W1"] for _ in range(2))
        assert_differ(one, other, shape=(6, 24), name="mlp.W1 of two blocks without a generator")

    def test_params_are_read_and_set(self, learner, rng):
        check_params(learner.DecoderBlock(4, 2, rng), block_shapes(4), rng)

    @pytest.mark.dtype
    def test_float32(self, learner, rng):
        p = {name: value.astype(np.float32) for name, value in oracles.draw(rng, block_shapes(6)).items()}
        x = rng.normal(size=(2, 4, 6)).astype(np.float32)
        result = new_block(learner, p, 3).forward(x)
        assert_equal(str(plain_array(result).dtype), "float32", name="dtype of the result")
        assert_output(result, lambda variant: decoder_block(x.astype(float), p, 3, variant)[0])

    @pytest.mark.refusals
    def test_wrong_arguments_are_refused(self, learner, rng):
        block = learner.DecoderBlock(4, 2, rng)
        for shape in REFUSED:
            with pytest.raises(ValueError):
                block.forward(rng.normal(size=shape))
        for num_heads in (3, 0):
            with pytest.raises(ValueError):
                learner.DecoderBlock(4, num_heads)
        check_params_refusals(block, block_shapes(4), rng)


@pytest.mark.criterion("decoder-block-gradients")
class TestBackward:
    @pytest.mark.parametrize("dim, num_heads", [(4, 2), (3, 3)])
    def test_last_forward_and_last_backward_count(self, learner, rng, dim, num_heads):
        block, p = draw_block(learner, rng, dim, num_heads)
        for batch, seq in ((1, 2), (2, 4)):
            x, grad_output = rng.normal(size=(batch, seq, dim)), rng.normal(size=(batch, seq, dim))
            variant = oracles.closest(block.forward(x), lambda variant, x=x: decoder_block(x, p, num_heads, variant)[0])
            with unchanged(grad_output):
                grad_x = block.backward(grad_output)

            def output(p, variant=variant):
                return decoder_block(p["x"], p, num_heads, variant)[0]

            names = ["x", *p] if seq == 4 else ["x"]
            expected = oracles.numerical_gradients(output, grad_output, {"x": x, **p}, names)
            assert_gradient(grad_x, expected.pop("x"), name="grad_x")
        assert_equal(sorted(block.grads), sorted(p), name="names of grads")
        for name, value in expected.items():
            assert_gradient(block.grads[name], value, name=f"grads[{name!r}]")

    @pytest.mark.refusals
    def test_wrong_calls_are_refused(self, learner, rng):
        block = learner.DecoderBlock(4, 2, rng)
        with pytest.raises(RuntimeError) as caught:
            block.backward(rng.normal(size=(2, 3, 4)))
        if isinstance(caught.value, NotImplementedError):  # a RuntimeError too, but the stub's
            raise caught.value
        block.forward(rng.normal(size=(2, 3, 4)))
        for shape in OTHER_SHAPES:
            with pytest.raises(ValueError):
                block.backward(rng.normal(size=shape))


def check_step(block, x, cache, p, num_heads):
    """Compare a step with a cache with the oracle's: output, weights, keys and values; return the cache."""
    output, (keys, values) = block.forward_with_cache(x, cache)
    variant = assert_output(output, lambda variant: decoder_block(x, p, num_heads, variant, cache)[0], name="output")
    _, weights, *kept = decoder_block(x, p, num_heads, variant, cache)
    assert_array(block.attention_weights, weights, name="attention_weights")
    assert_array(keys, kept[0], name="keys")
    assert_array(values, kept[1], name="values")
    return keys, values


@pytest.mark.criterion("block-cache")
class TestCache:
    @pytest.mark.parametrize("lengths", [(1, 1, 1), (3, 1, 2), (2, 3)], ids=str)
    def test_pieces_of_a_sequence(self, learner, rng, lengths):
        block, p = draw_block(learner, rng, 6, 2)
        x = rng.normal(size=(3, sum(lengths), 6))
        cache, outputs = None, []
        for start, length in zip(np.cumsum((0, *lengths)), lengths, strict=False):
            piece = x[:, start : start + length]
            outputs.append(block.forward_with_cache(piece, cache)[0])
            cache = check_step(block, piece, cache, p, 2)
        whole = block.forward(x)
        assert_array(np.concatenate(outputs, axis=1), whole, name="outputs of the pieces, as forward gives them")

    def test_any_past(self, learner, rng):
        block, p = draw_block(learner, rng, 6, 3)
        past = tuple(rng.normal(size=(2, 3, 4, 2)) for _ in range(2))
        for seq in (1, 3):
            check_step(block, rng.normal(size=(2, seq, 6)), past, p, 3)

    @pytest.mark.edges
    def test_scores_below_every_number_that_stands_for_minus_infinity(self, learner, rng):
        """Queries and keys are all the same, so that what is seen has equal weights, at scores of about -1e100."""
        p = oracles.draw(rng, block_shapes(4))
        bias = p["attention.qkv_bias"]
        p["attention.qkv_bias"] = np.concatenate([np.full(4, 1e50), np.full(4, -1e50), bias[8:]])
        block, x = new_block(learner, p, 2), rng.normal(size=(2, 5, 4))
        cache = check_step(block, x[:, :3], None, p, 2)
        check_step(block, x[:, 3:], cache, p, 2)

    @pytest.mark.purity
    def test_x_and_cache_stay_as_they_are(self, learner, rng):
        block, _ = draw_block(learner, rng, 4, 2)
        x, past = rng.normal(size=(2, 2, 4)), tuple(rng.normal(size=(2, 2, 3, 2)) for _ in range(2))
        with unchanged(x, *past):
            block.forward_with_cache(x, past)

    @pytest.mark.edges
    def test_large_scores(self, learner, rng):
        p = oracles.draw(rng, block_shapes(4))
        p["attention.qkv_weights"][:, :8] *= 40
        past = tuple(rng.normal(size=(1, 2, 3, 2)) for _ in range(2))
        check_step(new_block(learner, p, 2), rng.normal(size=(1, 2, 4)), (past[0] * 40, past[1]), p, 2)

    @pytest.mark.dtype
    def test_float32(self, learner, rng):
        p = {name: value.astype(np.float32) for name, value in oracles.draw(rng, block_shapes(4)).items()}
        x = rng.normal(size=(1, 2, 4)).astype(np.float32)
        output, (keys, values) = new_block(learner, p, 2).forward_with_cache(x)
        x, p = x.astype(float), {name: value.astype(float) for name, value in p.items()}
        variant = oracles.closest(output, lambda variant: decoder_block(x, p, 2, variant)[0])
        expected, _, *kept = decoder_block(x, p, 2, variant)
        for name, array, right in (("output", output, expected), ("keys", keys, kept[0]), ("values", values, kept[1])):
            assert_array(array, right, dtype="float32", rtol=1e-3, name=name)

    @pytest.mark.refusals
    def test_what_does_not_fit_is_refused(self, learner, rng):
        block, _ = draw_block(learner, rng, 4, 2)
        for shape in REFUSED:
            with pytest.raises(ValueError):
                block.forward_with_cache(rng.normal(size=shape))
        for shape in ((3, 2, 5, 2), (2, 4, 5, 2), (2, 2, 5, 4), (2, 5, 4)):
            with pytest.raises(ValueError):
                block.forward_with_cache(np.zeros((2, 1, 4)), (np.zeros(shape), np.zeros(shape)))
