"""Hidden tests of stage s17: the encoder, forward and backward."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_differ, assert_equal, assert_shape
from hidden.s17_transformer_blocks import oracles
from hidden.s17_transformer_blocks.checks import (
    REFUSED,
    assert_output,
    check_backward,
    check_backward_refusals,
    check_block,
)

pytestmark = pytest.mark.values


def new_encoder(learner, p, depth, num_heads, *, dropout=0.0, rng=None):
    """Return a learner's encoder with these parameters."""
    dim, hidden_dim = p["blocks.0.mlp.W1"].shape
    encoder = learner.Encoder(depth, dim, num_heads, mlp_ratio=hidden_dim / dim, dropout=dropout, rng=rng)
    assert_equal(len(encoder.blocks), depth, name="number of blocks")
    oracles.load_encoder(encoder, p)
    return encoder


def dropping_pair(learner, seed, p, shape):
    """Return an encoder that drops, and what its first training pass will keep, as told by another's MLPs in turn."""
    other, encoder = (new_encoder(learner, p, 2, 2, dropout=0.5, rng=np.random.default_rng(seed)) for _ in range(2))
    return encoder, [oracles.what_dropout_keeps(block.mlp, shape, 6, 0.5) for block in other.blocks]


@pytest.mark.criterion("encoder")
class TestEncoder:
    @pytest.mark.parametrize("depth", [1, 2, 3])
    def test_any_depth(self, learner, rng, depth):
        p = oracles.draw_encoder(rng, depth, 6, 9)
        x, encoder = oracles.draw_rows(rng, (2, 4, 6)), new_encoder(learner, p, depth, 2)
        check_block(encoder, x, p, 2, oracles.encoder)

    @pytest.mark.parametrize("empty_row", [False, pytest.param(True, marks=pytest.mark.edges)], ids=["", "empty"])
    @pytest.mark.parametrize("shape", [(4, 4), (3, 1, 1, 4)], ids=str)
    def test_every_block_takes_the_mask(self, learner, rng, shape, empty_row):
        x, p = oracles.draw_rows(rng, (3, 4, 6)), oracles.draw_encoder(rng, 3, 6, 5)
        mask = oracles.draw_mask(rng, shape, empty_row=empty_row)
        check_block(new_encoder(learner, p, 3, 3), x, p, 3, oracles.encoder, mask)

    def test_every_block_drops_in_training(self, learner, rng, seed):
        x, p = oracles.draw_rows(rng, (2, 3, 4)), oracles.draw_encoder(rng, 2, 4, 6)
        encoder, kept = dropping_pair(learner, seed, p, x.shape)
        result = encoder.forward(x, None, True)
        assert_output(result, lambda variant: oracles.encoder(x, p, 2, None, variant, kept), name="result in training")
        assert_output(encoder.forward(x), lambda variant: oracles.encoder(x, p, 2, None, variant))
        encoder = learner.Encoder(2, 4, 2, rng=rng)
        assert_array(
            encoder.forward(x, training=True), encoder.forward(x), name="result in training at the default rate"
        )

    def test_new_parameters(self, learner, seed):
        first, again = (learner.Encoder(2, 6, 3, rng=np.random.default_rng(seed)) for _ in range(2))
        params = first.params
        expected = oracles.draw_encoder(np.random.default_rng(0), 2, 6, 24)
        assert_equal(sorted(params), sorted(expected), name="names of params")
        assert_array(params["norm.gamma"], np.ones(6), name="norm.gamma")
        same = again.params
        for name, value in params.items():
            assert_shape(value, expected[name].shape, name=name)
            assert_array(same[name], value, name=f"{name} of a second encoder from an equal generator")
        for name, shape in (("attention.qkv_weights", (6, 18)), ("mlp.W1", (6, 24))):
            one, other = (params[f"blocks.{i}.{name}"] for i in range(2))
            assert_differ(one, other, shape=shape, name=f"{name} of the two blocks")
        one, other = (learner.Encoder(1, 6, 3).params["blocks.0.mlp.W1"] for _ in range(2))
        assert_differ(one, other, shape=(6, 24), name="mlp.W1 of two encoders without a generator")
        assert_shape(learner.Encoder(1, 6, 3, 1.45).blocks[0].mlp.params["b1"], (8,), name="b1 of an MLP of ratio 1.45")

    def test_params_show_what_the_parts_hold(self, learner, rng):
        encoder = learner.Encoder(2, 4, 2, mlp_ratio=1.5, rng=rng)
        assert_equal(encoder.grads, {}, name="grads before backward")
        for p in (oracles.draw_encoder(rng, 2, 4, 6), oracles.draw_encoder(rng, 2, 4, 6)):
            oracles.load_encoder(encoder, p)
            params = encoder.params
            assert_equal(sorted(params), sorted(p), name="names of params")
            for name, value in p.items():
                assert_array(params[name], value, name=f"params[{name!r}]")

    @pytest.mark.refusals
    def test_wrong_arguments_are_refused(self, learner, rng):
        encoder = learner.Encoder(2, 4, 2, rng=rng)
        for shape in REFUSED:
            with pytest.raises(ValueError):
                encoder.forward(rng.normal(size=shape))
        with pytest.raises(ValueError):
            encoder.forward(rng.normal(size=(2, 3, 4)), np.ones((2, 2), dtype=bool))
        for arguments in ((0, 4, 2), (-1, 4, 2), (1, 4, 3), (1, 4, 2, 4.0, 1.0)):
            with pytest.raises(ValueError):
                learner.Encoder(*arguments)


@pytest.mark.criterion("encoder-gradients")
class TestEncoderBackward:
    def test_last_forward_and_last_backward_count(self, learner, rng):
        p, mask = oracles.draw_encoder(rng, 3, 4, 3), oracles.draw_mask(rng, (3, 3))
        encoder = new_encoder(learner, p, 3, 2)
        for seq, given in ((2, None), (3, mask)):
            x, grad_output = oracles.draw_rows(rng, (1, seq, 4)), rng.normal(size=(1, seq, 4))
            check_backward(encoder, x, p, 2, grad_output, oracles.encoder, given)

    def test_dropout(self, learner, rng, seed):
        x, p = oracles.draw_rows(rng, (2, 3, 4)), oracles.draw_encoder(rng, 2, 4, 6)
        encoder, kept = dropping_pair(learner, seed, p, x.shape)
        check_backward(encoder, x, p, 2, rng.normal(size=x.shape), oracles.encoder, None, True, kept)

    @pytest.mark.refusals
    def test_wrong_backward_calls_are_refused(self, learner, rng):
        check_backward_refusals(learner.Encoder(2, 4, 2, rng=rng), rng)
