"""Hidden tests of stage s15: layer norm, the feed-forward network, the encoder block and stacks of it."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_shape, unchanged
from hidden.s15_attention import oracles

pytestmark = pytest.mark.values

NORM = 2e-5  # relative tolerance that accepts eps inside the square root and outside


@pytest.mark.criterion("layer-norm")
class TestLayerNorm:
    def test_any_leading_axes(self, learner, rng):
        d_model = int(rng.integers(4, 9))
        gamma, beta = oracles.draw_scale(rng, d_model), rng.normal(size=d_model)
        for leading in ((2, 3), (d_model,), ()):
            x = oracles.draw_rows(rng, (*leading, d_model))
            with unchanged(x, gamma, beta):
                result = learner.layer_norm(x, gamma, beta)
            assert_array(result, oracles.layer_norm(x, gamma, beta), rtol=NORM)

    @pytest.mark.edges
    def test_constant_token_among_others_gives_beta(self, learner, rng):
        x, gamma, beta = oracles.draw_rows(rng, (3, 6)), oracles.draw_scale(rng, 6), rng.normal(size=6)
        x[1] = rng.integers(1, 20) / 4  # exact in float32 too
        result = learner.layer_norm(x, gamma, beta)
        assert_array(result, oracles.layer_norm(x, gamma, beta), rtol=NORM)

    def test_eps_is_used(self, learner, rng):
        for size, eps in ((1.0, {"eps": 0.5}), (1e-3, {})):  # 1e-6, the default, matters for small features
            x, gamma, beta = oracles.draw_rows(rng, (3, 6), size), oracles.draw_scale(rng, 6), rng.normal(size=6)
            result = learner.layer_norm(x, gamma, beta, **eps)
            assert_shape(result, (3, 6))
            expected = [oracles.layer_norm(x, gamma, beta, **eps, eps_outside=place) for place in (False, True)]
            differences = [np.abs(np.asarray(result) - each).max() for each in expected]
            assert_array(result, expected[int(np.argmin(differences))], rtol=NORM)

    @pytest.mark.refusals
    def test_shapes_that_do_not_fit_are_refused(self, learner, rng):
        for x, gamma, beta in (((3, 6), (1,), (6,)), ((3, 6), (6,), (1,)), ((3, 6), (3, 6), (6,)), ((), (1,), (1,))):
            with pytest.raises(ValueError):
                learner.layer_norm(*(rng.normal(size=shape) for shape in (x, gamma, beta)))

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        x, gamma, beta = oracles.draw_rows(rng, (2, 3, 6)), oracles.draw_scale(rng, 6), rng.normal(size=6)
        x, gamma, beta = (values.astype(np.float32) for values in (x, gamma, beta))
        expected = oracles.layer_norm(*(values.astype(np.float64) for values in (x, gamma, beta)))
        assert_array(learner.layer_norm(x, gamma, beta), expected, dtype="float32")

    @pytest.mark.dtype
    def test_integers_are_numbers_too(self, learner, rng):
        x, gamma, beta = (rng.integers(1, 10, size=shape) for shape in ((2, 3, 6), (6,), (6,)))
        x[..., 0] += 10
        assert_array(learner.layer_norm(x, gamma, beta), oracles.layer_norm(x, gamma, beta), rtol=NORM)


@pytest.mark.criterion("encoder-block")
class TestFeedForward:
    def test_any_leading_axes(self, learner, rng):
        d_model, d_ff = oracles.draw_sizes(rng, 2, least=3)
        for leading in ((2, 3), (4,), ()):
            x = rng.normal(size=(*leading, d_model))
            network = oracles.draw_network(rng, x, d_ff)
            with unchanged(x, *network):
                result = learner.feed_forward(x, *network)
            assert_array(result, oracles.feed_forward(x, *network))

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        x = rng.normal(size=(2, 3, 4))
        x, *network = (values.astype(np.float32) for values in (x, *oracles.draw_network(rng, x, 7)))
        expected = oracles.feed_forward(*(values.astype(np.float64) for values in (x, *network)))
        assert_array(learner.feed_forward(x, *network), expected, dtype="float32")

    @pytest.mark.refusals
    def test_shapes_that_do_not_fit_are_refused(self, learner, rng):
        for network in oracles.wrong_networks(rng, (3, 4), 7):
            with pytest.raises(ValueError):
                learner.feed_forward(*network)


def causal(seq):
    """Return the mask in which every position sees itself and what came before."""
    return np.array([[key <= query for key in range(seq)] for query in range(seq)])


def new_block(learner, parameters, d_model, num_heads, d_ff):
    """Return a learner's block with these parameters."""
    block = learner.TransformerEncoderBlock(d_model, num_heads, d_ff)
    oracles.load_block(block, parameters)
    return block


@pytest.mark.criterion("encoder-block")
class TestEncoderBlock:
    def test_any_parameters(self, learner, rng):
        x = oracles.draw_rows(rng, (3, 5, 6), oracles.STRETCH)
        parameters = oracles.draw_block(rng, x, 2, 9)
        block = new_block(learner, parameters, 6, 2, 9)
        with unchanged(x):
            result = block.forward(x)
        assert_array(result, oracles.block(x, parameters, 2), rtol=NORM)

    @pytest.mark.parametrize("empty_row", [False, pytest.param(True, marks=pytest.mark.edges)], ids=["", "empty"])
    def test_mask_of_queries_and_keys_then_of_padding(self, learner, rng, empty_row):
        padding = oracles.draw_mask(rng, (2, 1, 1, 4), empty_row=empty_row)
        for mask in (causal(4), padding):
            x = oracles.draw_rows(rng, (2, 4, 6), oracles.STRETCH)
            parameters = oracles.draw_block(rng, x, 3, 8, mask)
            block = new_block(learner, parameters, 6, 3, 8)
            assert_array(block.forward(x, mask), oracles.block(x, parameters, 3, mask), rtol=NORM)

    def test_new_parameters(self, learner, seed):
        blocks = [learner.TransformerEncoderBlock(64, 4, rng=np.random.default_rng(seed)) for _ in range(2)]
        for name, size in (("W1", (64, 256)), ("W2", (256, 64))):
            weights, again = (getattr(block, name) for block in blocks)
            assert_shape(weights, size, name=name)
            assert_array(again, weights, name=f"{name} of a second block from an equal generator")
            assert_array(np.std(weights), size[0] ** -0.5, rtol=0.5, atol=0, name=f"standard deviation of {name}")
        for name, size in (("beta1", 64), ("b1", 256), ("b2", 64), ("beta2", 64)):
            assert_array(getattr(blocks[0], name), np.zeros(size), name=name)
        for name in ("gamma1", "gamma2"):
            assert_array(getattr(blocks[0], name), np.ones(64), name=name)
        narrow = learner.TransformerEncoderBlock(6, 2, d_ff=9, rng=np.random.default_rng(seed))
        for name, size in (("W1", (6, 9)), ("b1", (9,)), ("W2", (9, 6))):
            assert_shape(getattr(narrow, name), size, name=f"{name} with d_ff=9")

    def test_stack_passes_the_mask_to_every_block(self, learner, rng):
        x, mask = oracles.draw_rows(rng, (2, 4, 6), oracles.STRETCH), causal(4)
        expected, blocks = x, []
        for _ in range(2):
            parameters = oracles.draw_block(rng, expected, 2, 8, mask)
            blocks.append(new_block(learner, parameters, 6, 2, 8))
            expected = oracles.block(expected, parameters, 2, mask)
        with unchanged(x):
            result = learner.stack_encoder_blocks(x, blocks, mask)
        assert_array(result, expected, rtol=2 * NORM)

    @pytest.mark.edges
    def test_empty_stack_gives_the_input(self, learner, rng):
        x = rng.normal(size=(2, 3, 4))
        assert_array(learner.stack_encoder_blocks(x, []), x)

    @pytest.mark.purity
    def test_empty_stack_gives_a_new_array(self, learner, rng):
        """An argument that is handed back arrives as the test's own array, and not as a copy."""
        x = rng.normal(size=(2, 3, 4))
        result = learner.stack_encoder_blocks(x, [])
        assert_array(result, x)
        before = x.copy()
        np.asarray(result)[...] = 0.0
        assert_array(x, before, name="x, after 0 was written into the result, which is to be a new array")

    @pytest.mark.refusals
    def test_impossible_sizes_are_refused(self, learner, rng):
        for sizes in ((8, 3, 4), (8, 0, 4), (0, 1, 4), (8, 2, 0), (8, 2, -4), (8, 2, 4.0)):
            with pytest.raises(ValueError):
                learner.TransformerEncoderBlock(*sizes, rng=rng.spawn(1)[0])

    @pytest.mark.refusals
    def test_inputs_that_do_not_fit_are_refused(self, learner, rng):
        block = learner.TransformerEncoderBlock(6, 2, rng=rng.spawn(1)[0])
        for shape in ((3, 6), (2, 3, 4)):
            with pytest.raises(ValueError):
                block.forward(rng.normal(size=shape))
        with pytest.raises(ValueError):
            block.forward(rng.normal(size=(2, 3, 6)), np.ones((2, 4), dtype=bool))
