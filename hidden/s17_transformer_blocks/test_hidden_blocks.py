"""Hidden tests of stage s17: pre-LN and post-LN blocks, forward and backward."""

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


def new_block(cls, p, num_heads, *, dropout=0.0, rng=None):
    """Return a learner's block, of either kind, with these parameters."""
    dim, hidden_dim = p["mlp.W1"].shape
    block = cls(dim, num_heads, mlp_ratio=hidden_dim / dim, dropout=dropout, rng=rng)
    oracles.load_block(block, p)
    return block


def check_dropping(cls, rng, seed, oracle):
    """Compare outputs of a block that drops, in training and out of it, with the oracle's."""
    x, p = rng.normal(size=(3, 2, 4)), oracles.draw_block(rng, 4, 6)
    other = new_block(cls, p, 2, dropout=0.5, rng=np.random.default_rng(seed))
    kept = oracles.what_dropout_keeps(other.mlp, x.shape, 6, 0.5)
    block = new_block(cls, p, 2, dropout=0.5, rng=np.random.default_rng(seed))
    result = block.forward(x, None, True)
    assert_output(result, lambda variant: oracle(x, p, 2, None, variant, kept), name="result in training")
    assert_output(block.forward(x), lambda variant: oracle(x, p, 2, None, variant))
    return block, x, p, kept


def check_new_block(cls, seed):
    """Check the parameters and the defaults of new blocks."""
    first, again = (cls(24, 3, rng=np.random.default_rng(seed)).params for _ in range(2))
    expected = {
        "norm1.gamma": np.ones(24),
        "norm1.beta": np.zeros(24),
        "attention.qkv_bias": np.zeros(72),
        "attention.output_bias": np.zeros(24),
        "norm2.gamma": np.ones(24),
        "norm2.beta": np.zeros(24),
        "mlp.b1": np.zeros(96),
        "mlp.b2": np.zeros(24),
    }
    drawn = {
        "attention.qkv_weights": (24, 72),
        "attention.output_weights": (24, 24),
        "mlp.W1": (24, 96),
        "mlp.W2": (96, 24),
    }
    assert_equal(sorted(first), sorted([*expected, *drawn]), name="names of params")
    for name, value in expected.items():
        assert_array(first[name], value, name=name)
    for name, shape in drawn.items():
        assert_shape(first[name], shape, name=name)
        assert_array(np.std(first[name]), shape[0] ** -0.5, rtol=0.3, atol=0, name=f"standard deviation of {name}")
        assert_array(again[name], first[name], name=f"{name} of a second block from an equal generator")
    for ratio, hidden_dim in ((1.45, 8), (0.5, 3), (2, 12)):
        assert_shape(cls(6, 2, ratio).mlp.params["b1"], (hidden_dim,), name=f"b1 of an MLP of ratio {ratio}")
    one, other = (cls(6, 2).params for _ in range(2))
    smaller = {name: tuple(size // 4 for size in shape) for name, shape in drawn.items()}
    for name, shape in smaller.items():
        assert_differ(one[name], other[name], shape=shape, name=f"{name} of two new blocks")


def check_default_rate(cls, rng):
    """Check that a block drops nothing unless asked to."""
    block, x = cls(4, 2, rng=rng), rng.normal(size=(2, 3, 4))
    assert_array(block.forward(x, training=True), block.forward(x), name="result in training at the default rate")


def check_params_are_live(cls, rng):
    """Check that params and grads of a block show what its parts hold now."""
    block = cls(4, 2, mlp_ratio=1.5, rng=rng)
    assert_equal(block.grads, {}, name="grads before backward")
    for p in (oracles.draw_block(rng, 4, 6), oracles.draw_block(rng, 4, 6)):
        oracles.load_block(block, p)
        params = block.params
        assert_equal(sorted(params), sorted(p), name="names of params")
        for name, value in p.items():
            assert_array(params[name], value, name=f"params[{name!r}]")


def check_refusals(cls, rng):
    """Check the errors of a block."""
    block, x = cls(4, 2, rng=rng), rng.normal(size=(2, 3, 4))
    for shape in REFUSED:
        with pytest.raises(ValueError):
            block.forward(rng.normal(size=shape))
    with pytest.raises(ValueError):
        block.forward(x, np.ones((2, 2), dtype=bool))
    for options in ({"num_heads": 3}, {"num_heads": 0}, {"num_heads": 2, "dropout": 1.0}):
        with pytest.raises(ValueError):
            cls(4, **options)


@pytest.mark.criterion("pre-norm-block")
class TestBlock:
    @pytest.mark.parametrize("num_heads, dim, hidden_dim", [(2, 6, 9), (1, 3, 7), (4, 4, 2)])
    def test_any_parameters(self, learner, rng, num_heads, dim, hidden_dim):
        p = oracles.draw_block(rng, dim, hidden_dim)
        block = new_block(learner.Block, p, num_heads)
        for batch, seq in ((2, 5), (3, 1)):
            check_block(block, oracles.draw_rows(rng, (batch, seq, dim)), p, num_heads, oracles.block)

    @pytest.mark.parametrize("empty_row", [False, pytest.param(True, marks=pytest.mark.edges)], ids=["", "empty"])
    @pytest.mark.parametrize("shape", [(4, 4), (3, 1, 1, 4)], ids=str)
    def test_attention_takes_the_mask(self, learner, rng, shape, empty_row):
        x, p = oracles.draw_rows(rng, (3, 4, 6)), oracles.draw_block(rng, 6, 5)
        mask = oracles.draw_mask(rng, shape, empty_row=empty_row)
        check_block(new_block(learner.Block, p, 2), x, p, 2, oracles.block, mask)

    def test_mlp_drops_in_training(self, learner, rng, seed):
        check_dropping(learner.Block, rng, seed, oracles.block)
        check_default_rate(learner.Block, rng)

    def test_new_parameters(self, learner, seed):
        check_new_block(learner.Block, seed)

    def test_params_show_what_the_parts_hold(self, learner, rng):
        check_params_are_live(learner.Block, rng)

    @pytest.mark.refusals
    def test_wrong_arguments_are_refused(self, learner, rng):
        check_refusals(learner.Block, rng)


@pytest.mark.criterion("pre-norm-block-gradients")
class TestBlockBackward:
    def test_last_forward_and_last_backward_count(self, learner, rng):
        p, mask = oracles.draw_block(rng, 4, 6), oracles.draw_mask(rng, (3, 3))
        block = new_block(learner.Block, p, 2)
        for seq, given in ((2, None), (3, mask)):
            x, grad_output = oracles.draw_rows(rng, (2, seq, 4)), rng.normal(size=(2, seq, 4))
            check_backward(block, x, p, 2, grad_output, oracles.block, given)

    def test_dropout(self, learner, rng, seed):
        x, p = oracles.draw_rows(rng, (2, 3, 4)), oracles.draw_block(rng, 4, 6)
        other = new_block(learner.Block, p, 2, dropout=0.5, rng=np.random.default_rng(seed))
        kept = oracles.what_dropout_keeps(other.mlp, x.shape, 6, 0.5)
        block = new_block(learner.Block, p, 2, dropout=0.5, rng=np.random.default_rng(seed))
        check_backward(block, x, p, 2, rng.normal(size=x.shape), oracles.block, None, True, kept)

    @pytest.mark.refusals
    def test_wrong_backward_calls_are_refused(self, learner, rng):
        check_backward_refusals(learner.Block(4, 2, rng=rng), rng)


@pytest.mark.criterion("post-norm-block")
class TestPostNormBlock:
    @pytest.mark.parametrize("num_heads, dim, hidden_dim", [(2, 6, 9), (1, 3, 7), (4, 4, 2)])
    def test_any_parameters(self, learner, rng, num_heads, dim, hidden_dim):
        p = oracles.draw_block(rng, dim, hidden_dim)
        block = new_block(learner.PostNormBlock, p, num_heads)
        for batch, seq in ((2, 5), (3, 1)):
            check_block(block, oracles.draw_rows(rng, (batch, seq, dim)), p, num_heads, oracles.post_norm_block)

    @pytest.mark.parametrize("empty_row", [False, pytest.param(True, marks=pytest.mark.edges)], ids=["", "empty"])
    @pytest.mark.parametrize("shape", [(4, 4), (3, 1, 1, 4)], ids=str)
    def test_attention_takes_the_mask(self, learner, rng, shape, empty_row):
        x, p = oracles.draw_rows(rng, (3, 4, 6)), oracles.draw_block(rng, 6, 5)
        mask = oracles.draw_mask(rng, shape, empty_row=empty_row)
        check_block(new_block(learner.PostNormBlock, p, 2), x, p, 2, oracles.post_norm_block, mask)

    def test_mlp_drops_in_training(self, learner, rng, seed):
        check_dropping(learner.PostNormBlock, rng, seed, oracles.post_norm_block)
        check_default_rate(learner.PostNormBlock, rng)

    def test_new_parameters(self, learner, seed):
        check_new_block(learner.PostNormBlock, seed)

    def test_params_show_what_the_parts_hold(self, learner, rng):
        check_params_are_live(learner.PostNormBlock, rng)

    @pytest.mark.refusals
    def test_wrong_arguments_are_refused(self, learner, rng):
        check_refusals(learner.PostNormBlock, rng)


@pytest.mark.criterion("post-norm-block-gradients")
class TestPostNormBlockBackward:
    def test_last_forward_and_last_backward_count(self, learner, rng):
        p, mask = oracles.draw_block(rng, 4, 6), oracles.draw_mask(rng, (3, 3))
        block = new_block(learner.PostNormBlock, p, 2)
        for seq, given in ((2, None), (3, mask)):
            x, grad_output = oracles.draw_rows(rng, (2, seq, 4)), rng.normal(size=(2, seq, 4))
            check_backward(block, x, p, 2, grad_output, oracles.post_norm_block, given)

    def test_dropout(self, learner, rng, seed):
        x, p = oracles.draw_rows(rng, (2, 3, 4)), oracles.draw_block(rng, 4, 6)
        other = new_block(learner.PostNormBlock, p, 2, dropout=0.5, rng=np.random.default_rng(seed))
        kept = oracles.what_dropout_keeps(other.mlp, x.shape, 6, 0.5)
        block = new_block(learner.PostNormBlock, p, 2, dropout=0.5, rng=np.random.default_rng(seed))
        check_backward(block, x, p, 2, rng.normal(size=x.shape), oracles.post_norm_block, None, True, kept)

    @pytest.mark.refusals
    def test_wrong_backward_calls_are_refused(self, learner, rng):
        check_backward_refusals(learner.PostNormBlock(4, 2, rng=rng), rng)
