"""Hidden tests of stage s22: tiled attention against whole arrays, behind masks and in memory."""

import math

import numpy as np
import pytest

from grader.testing import assert_array, assert_shape, unchanged
from hidden.s22_efficient_attention import oracles
from hidden.s22_efficient_attention.checks import BACKWARD, BLOCKS, FORWARD, assert_tiled, backward

pytestmark = pytest.mark.values
SIZE = 96  # of blocks at 8192 positions: nine arrays of (8192, 96), which are allowed, fit into what may be held
TORCH = [[-0.4329365084456601, 0.10653351448600262], [-0.5483818642973185, -0.010696107354657591]]


@pytest.mark.criterion("tiled-attention")
class TestTiledAttention:
    @pytest.mark.parametrize("block_size", BLOCKS)
    def test_exact_attention(self, learner, rng, block_size):
        Q, K, V = oracles.draw(rng, (), 7, 11, 3, 2)
        assert_tiled(learner.tiled_attention(Q, K, V, block_size), Q, K, V)

    def test_any_leading_axes(self, learner, rng):
        for leading in ((2,), (3, 2), (2, 1, 3)):
            Q, K, V = oracles.draw(rng, leading, 5, 8, 4, 6)
            assert_tiled(learner.tiled_attention(Q, K, V, 3), Q, K, V)

    def test_another_framework(self, learner):
        """Frozen values: torch 2.13.0, scaled_dot_product_attention in float64, of sin and cos of small numbers."""
        Q, K = np.sin(np.arange(6.0)).reshape(2, 3), np.cos(np.arange(12.0)).reshape(4, 3)
        output, _ = oracles.parts(learner.tiled_attention(Q, K, np.sin(np.arange(8.0) ** 2).reshape(4, 2), 3), FORWARD)
        assert_array(output, TORCH, rtol=1e-9, name="output")

    @pytest.mark.edges
    def test_scores_that_no_exponential_holds(self, learner, rng):
        Q, K, V = oracles.draw(rng, (), 5, 6, 1, 2)
        signs = np.sign(Q[:, 0])
        Q, K = 1000.0 * signs[:, None], np.arange(-3.0, 3.0)[:, None]
        output, log_sum_exp = oracles.parts(learner.tiled_attention(Q, K, V, 2), FORWARD)
        assert_array(output, np.where(signs[:, None] > 0, V[-1], V[0]), name="output")
        assert_array(log_sum_exp, np.where(signs > 0, 2000.0, 3000.0), name="log_sum_exp")

    @pytest.mark.edges
    def test_scores_below_every_number_that_stands_for_minus_infinity(self, learner, rng):
        V = rng.normal(size=(5, 2))
        for Q, K in (oracles.draw_far_below(rng, 3, 5), (np.array([[300.0]]), np.arange(-300.0, -305.0, -1)[:, None])):
            output, log_sum_exp = oracles.parts(learner.tiled_attention(Q, K, V, 2), FORWARD)
            assert_array(output, np.broadcast_to(V[np.argmax(K)], (len(Q), 2)), name="output")
            assert_array(log_sum_exp, Q[:, 0] * K.max(), name="log_sum_exp")

    @pytest.mark.dtype
    def test_integers_are_numbers_too(self, learner, rng):
        Q, K, V = (rng.integers(-3, 4, size=shape) for shape in ((5, 3), (8, 3), (8, 2)))
        assert_tiled(learner.tiled_attention(Q, K, V, 3), Q, K, V)

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        Q, K, V = (x.astype(np.float32) for x in oracles.draw(rng, (2,), 5, 8, 3, 2))
        found = oracles.parts(learner.tiled_attention(Q, K, V, 3), FORWARD)
        exact = oracles.attention(*(x.astype(np.float64) for x in (Q, K, V)))
        for name, actual, expected in zip(FORWARD, found, exact, strict=False):
            assert_array(actual, expected.astype(np.float32), name=name, dtype=np.float32)

    @pytest.mark.purity
    def test_arguments_stay_as_they_are(self, learner, rng):
        Q, K, V = oracles.draw(rng, (), 5, 8, 3, 2)
        with unchanged(Q, K, V):
            learner.tiled_attention(Q, K, V, 3)

    @pytest.mark.refusals
    def test_shapes_that_do_not_fit(self, learner):
        shapes = [((3, 2), (4, 3), (4, 2)), ((3, 2), (4, 2), (3, 2)), ((2,), (4, 2), (4, 2)), ((3, 2), (2,), (4, 2))]
        shapes += [((2, 3, 2), (3, 4, 2), (3, 4, 2)), ((3, 2), (1, 4, 2), (1, 4, 2)), ((3, 0), (4, 0), (4, 2))]
        for Q, K, V in shapes:
            with pytest.raises(ValueError):
                learner.tiled_attention(np.ones(Q), np.ones(K), np.ones(V), 2)

    @pytest.mark.refusals
    @pytest.mark.parametrize("block_size", [0, -3, 2.5])
    def test_block_sizes_that_are_none(self, learner, rng, block_size):
        with pytest.raises(ValueError):
            learner.tiled_attention(*oracles.draw(rng, (), 5, 8, 3, 2), block_size)


@pytest.mark.criterion("tiled-masks")
class TestTiledMasks:
    @pytest.mark.parametrize("block_size", BLOCKS)
    @pytest.mark.parametrize("seq_q, seq_k", [(7, 7), (4, 9), (9, 4)])
    def test_causal_is_the_lower_triangle(self, learner, rng, block_size, seq_q, seq_k):
        Q, K, V = oracles.draw(rng, (), seq_q, seq_k, 3, 2)
        result = learner.tiled_attention(Q, K, V, block_size, causal=True)
        assert_tiled(result, Q, K, V, oracles.allowed_pairs(seq_q, seq_k, True))

    @pytest.mark.parametrize("causal", [False, True])
    def test_masked_keys(self, learner, rng, causal):
        Q, K, V = oracles.draw(rng, (2, 3), 6, 8, 3, 4)
        for shape in ((8,), (2, 1, 8), (2, 3, 8)):
            mask = oracles.draw_key_mask(rng, shape)
            for given in (mask, mask.astype(int)):
                result = learner.tiled_attention(Q, K, V, 3, causal, given)
                assert_tiled(result, Q, K, V, oracles.allowed_pairs(6, 8, causal, np.broadcast_to(mask, (2, 3, 8))))

    @pytest.mark.edges
    def test_queries_without_keys_get_nothing(self, learner, rng):
        Q, K, V = oracles.draw(rng, (2,), 7, 7, 3, 2)
        for first in (1, 3, 6, 7):
            mask = np.arange(7) >= first
            result = learner.tiled_attention(Q, K, V, 2, causal=True, key_mask=mask)
            assert_tiled(result, Q, K, V, oracles.allowed_pairs(7, 7, True, mask))

    @pytest.mark.edges
    @pytest.mark.parametrize("causal", [False, True])
    def test_no_keys_at_all(self, learner, rng, causal):
        for leading in ((), (2, 3)):
            Q, K, V = oracles.draw(rng, leading, 4, 0, 3, 2)
            output, log_sum_exp = oracles.parts(learner.tiled_attention(Q, K, V, 2, causal), FORWARD)
            assert_array(output, np.zeros((*leading, 4, 2)), name="output")
            assert_array(log_sum_exp, np.full((*leading, 4), -np.inf), name="log_sum_exp")

    @pytest.mark.edges
    def test_allowed_scores_below_every_number_that_stands_for_minus_infinity(self, learner, rng):
        Q, K = oracles.draw_far_below(rng, 5, 5)
        V, mask = rng.normal(size=(5, 2)), np.arange(5) % 2 == 0
        output, log_sum_exp = oracles.parts(learner.tiled_attention(Q, K, V, 2, True, mask), FORWARD)
        best = [max((j for j in range(i + 1) if mask[j]), key=lambda j: K[j, 0]) for i in range(5)]
        assert_array(output, V[best], name="output")
        assert_array(log_sum_exp, Q[:, 0] * K[best, 0], name="log_sum_exp")

    @pytest.mark.edges
    def test_masked_keys_of_any_size_do_not_count(self, learner, rng):
        Q, K, V = oracles.draw(rng, (), 6, 6, 3, 2)
        mask = np.array([True, False, True, True, False, True])
        large = np.where(mask[:, None], K, 1e5)
        result = learner.tiled_attention(Q, large, V, 4, key_mask=mask)
        assert_tiled(result, Q, K, V, oracles.allowed_pairs(6, 6, False, mask))

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        Q, K, V = (x.astype(np.float32) for x in oracles.draw(rng, (), 5, 5, 3, 2))
        for value in oracles.parts(learner.tiled_attention(Q, K, V, 2, True, np.arange(5) > 0), FORWARD):
            assert_array(value, np.asarray(value, dtype=np.float64), dtype=np.float32)

    @pytest.mark.purity
    def test_the_mask_stays_as_it_is(self, learner, rng):
        Q, K, V = oracles.draw(rng, (), 5, 5, 3, 2)
        key_mask = oracles.draw_key_mask(rng, (5,))
        with unchanged(Q, K, V, key_mask):
            learner.tiled_attention(Q, K, V, 2, True, key_mask)

    @pytest.mark.refusals
    def test_masks_that_do_not_fit(self, learner, rng):
        Q, K, V = oracles.draw(rng, (2,), 5, 8, 3, 2)
        for shape in ((5,), (3, 8), (7,), (2, 2, 8)):
            with pytest.raises(ValueError):
                learner.tiled_attention(Q, K, V, 3, key_mask=np.ones(shape, dtype=bool))


@pytest.mark.criterion("tiled-memory")
class TestTiledMemory:
    """8192 positions: the process may take 192 MB, and all scores in float32 would take 256 MB."""

    def test_some_hundred_positions(self, learner, rng):
        Q, K, V = oracles.draw(rng, (), 300, 280, 4, 3)
        allowed = oracles.allowed_pairs(300, 280, True)
        assert_tiled(learner.tiled_attention(Q, K, V, 64, causal=True), Q, K, V, allowed)
        grad = rng.normal(size=(300, 3))
        found = backward(learner, grad, Q, K, V, 64, allowed, causal=True)
        exact = oracles.attention(Q, K, V, allowed)[2]
        assert_array(found[2], exact.T @ grad, name="grad_V", terms=300)

    @pytest.mark.memory
    def test_forward_holds_tiles_only(self, learner, rng):
        Q, K, V = oracles.draw(rng, (), oracles.LONG, oracles.LONG, 4, 2)
        what = f"tiled_attention of {oracles.LONG} positions, block_size={SIZE}"
        found = oracles.parts(oracles.held(learner.tiled_attention, Q, K, V, SIZE, causal=True, what=what), FORWARD)
        rows = oracles.some_rows(rng, oracles.LONG, 0, 1, SIZE - 1, SIZE, 4000)
        allowed = np.arange(oracles.LONG) <= rows[:, None]
        output, log_sum_exp, _ = oracles.attention(Q[rows], K, V, allowed)
        oracles.assert_rows(found[0], output, rows, (oracles.LONG, 2), name="output")
        oracles.assert_rows(found[1], log_sum_exp, rows, (oracles.LONG,), name="log_sum_exp")

    @pytest.mark.memory
    def test_backward_holds_tiles_only(self, learner, rng):
        """Keys of zeros make all weights of a row equal, so that output and gradients are known without scores."""
        V, grad, count = rng.normal(size=(oracles.LONG, 2)), rng.normal(size=(oracles.LONG, 2)), oracles.LONG
        Q, K, seen = rng.normal(size=(count, 4)), np.zeros((count, 4)), np.arange(1.0, count + 1)
        output = np.cumsum(V, axis=0) / seen[:, None]
        what = f"tiled_attention_backward of {count} positions, block_size={SIZE}"
        given = (grad, Q, K, V, output, np.log(seen), SIZE)
        found = oracles.held(learner.tiled_attention_backward, *given, causal=True, what=what)
        grad_Q, grad_K, grad_V = oracles.parts(found, BACKWARD)
        assert_array(grad_Q, np.zeros((count, 4)), name="grad_Q")
        assert_shape(grad_K, (count, 4), name="grad_K")
        assert_array(grad_V, np.cumsum((grad / seen[:, None])[::-1], axis=0)[::-1], name="grad_V", terms=count)
        last = grad[-1] @ (V[-1] - output[-1]) / count / math.sqrt(4) * Q[-1]
        assert_array(grad_K[-1], last, name="grad_K of the last key", rtol=1e-7)
