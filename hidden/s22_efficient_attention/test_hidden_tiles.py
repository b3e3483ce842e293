"""Hidden tests of stage s22: online softmax and tiled attention, forward and backward, against whole arrays."""

import math

import numpy as np
import pytest

from grader.testing import assert_array, assert_gradient, assert_shape, numerical_gradient, unchanged
from hidden.s22_efficient_attention import oracles

pytestmark = pytest.mark.values

SOFTMAX = ("weights", "maximum", "total")
FORWARD = ("output", "log_sum_exp")
BACKWARD = ("grad_Q", "grad_K", "grad_V")
BLOCKS = [1, 2, 3, 5, 64]
SIZE = 96  # of blocks at 8192 positions: nine arrays of (8192, 96), which are allowed, fit into what may be held
TORCH = [[-0.4329365084456601, 0.10653351448600262], [-0.5483818642973185, -0.010696107354657591]]
AXES = {"output": "seq_q d_v", "log_sum_exp": "seq_q"}


def assert_softmax(result, scores):
    """Assert that a result of online_softmax is right for the scores."""
    for name, actual, expected in zip(SOFTMAX, oracles.parts(result, SOFTMAX), oracles.softmax(scores), strict=True):
        assert_array(actual, expected, name=name, terms=scores.shape[-1])


@pytest.mark.criterion("online-softmax")
class TestOnlineSoftmax:
    @pytest.mark.parametrize("block_size", [*BLOCKS, np.int64(4)])
    def test_every_block_size_gives_the_same(self, learner, rng, block_size):
        for leading in ((3,), (2, 4), ()):
            scores = rng.normal(scale=3, size=(*leading, 11))
            assert_softmax(learner.online_softmax(scores, block_size), scores)

    @pytest.mark.parametrize("order", [1, -1], ids=["rising", "falling"])
    def test_scores_in_order(self, learner, rng, order):
        scores = np.sort(rng.normal(scale=4, size=(3, 10)), axis=-1)[:, ::order]
        assert_softmax(learner.online_softmax(scores, 3), scores)

    @pytest.mark.edges
    def test_scores_that_no_exponential_holds(self, learner, rng):
        scores = rng.choice([-800.0, 0.0, 750.0, 5000.0, 5001.0], size=(6, 9)) + rng.normal(size=(6, 9))
        assert_softmax(learner.online_softmax(scores, 2), scores)
        scores = np.array([[5000.0, -5000.0, -5000.0], [-5000.0, -5000.0, 5000.0]])
        assert_softmax(learner.online_softmax(scores, 1), scores)

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        scores = rng.normal(size=(3, 7)).astype(np.float32)
        found = oracles.parts(learner.online_softmax(scores, 3), SOFTMAX)
        for name, actual, expected in zip(SOFTMAX, found, oracles.softmax(scores.astype(np.float64)), strict=True):
            assert_array(actual, expected.astype(np.float32), name=name, dtype=np.float32)

    @pytest.mark.dtype
    def test_integers_are_scores_too(self, learner, rng):
        scores = rng.integers(-3, 4, size=(3, 7))
        assert_softmax(learner.online_softmax(scores, 3), scores.astype(np.float64))

    @pytest.mark.purity
    def test_scores_stay_as_they_are(self, learner, rng):
        scores = rng.normal(size=(3, 7))
        with unchanged(scores):
            learner.online_softmax(scores, 2)

    @pytest.mark.refusals
    @pytest.mark.parametrize("block_size", [0, -1, 2.0, None])
    def test_block_sizes_that_are_none(self, learner, rng, block_size):
        with pytest.raises(ValueError):
            learner.online_softmax(rng.normal(size=(3, 4)), block_size)

    @pytest.mark.refusals
    def test_a_number_has_no_rows(self, learner):
        with pytest.raises(ValueError):
            learner.online_softmax(np.array(2.0), 1)


@pytest.mark.criterion("online-softmax-masked")
class TestOnlineSoftmaxMasked:
    @pytest.mark.parametrize("block_size", [1, 2, 4, 20])
    def test_scattered_minus_infinities(self, learner, rng, block_size):
        scores = np.where(rng.random((2, 5, 9)) < 0.6, -np.inf, rng.normal(scale=2, size=(2, 5, 9)))
        scores[0, rng.integers(5)] = -np.inf
        assert_softmax(learner.online_softmax(scores, block_size), scores)

    def test_a_masked_start_middle_and_end(self, learner, rng):
        scores = rng.normal(size=(3, 9)) + rng.choice([-400.0, 400.0], size=(3, 1))
        for row in range(3):
            scores[row, 3 * row : 3 * row + 3] = -np.inf
        assert_softmax(learner.online_softmax(scores, 3), scores)

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner):
        scores = np.full((2, 3), -np.inf, dtype=np.float32)
        for name, value in zip(SOFTMAX, learner.online_softmax(scores, 2), strict=True):
            expected = np.full(np.shape(value), -np.inf if name == "maximum" else 0.0, dtype=np.float32)
            assert_array(value, expected, name=name, dtype=np.float32)


def assert_tiled(result, Q, K, V, allowed=1):
    """Assert that a result of tiled_attention is that of exact attention."""
    found = oracles.parts(result, FORWARD)
    for name, actual, expected in zip(FORWARD, found, oracles.attention(Q, K, V, allowed), strict=False):
        axes = AXES[name] if Q.ndim == 2 else None
        assert_array(actual, expected, name=name, terms=4 * K.shape[-2], axes=axes)


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
        for Q, K, V in [*shapes, ((2, 3, 2), (3, 4, 2), (3, 4, 2)), ((3, 2), (1, 4, 2), (1, 4, 2))]:
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


def backward(learner, grad, Q, K, V, block_size, allowed=1, **options):
    """Return the gradients, with output and log_sum_exp as exact attention has them."""
    output, log_sum_exp, _ = oracles.attention(Q, K, V, allowed)
    found = learner.tiled_attention_backward(grad, Q, K, V, output, log_sum_exp, block_size, **options)
    return oracles.parts(found, BACKWARD)


@pytest.mark.criterion("tiled-gradients")
class TestTiledGradients:
    @pytest.mark.parametrize("causal", [False, True])
    def test_finite_differences(self, learner, rng, causal):
        inputs = oracles.draw(rng, (), 4, 5, 3, 2)
        grad, allowed = rng.normal(size=(4, 2)), oracles.allowed_pairs(4, 5, causal)
        found = backward(learner, grad, *inputs, 2, allowed, causal=causal)
        for place, (name, actual) in enumerate(zip(BACKWARD, found, strict=True)):

            def loss(x, place=place):
                changed = [*inputs[:place], x, *inputs[place + 1 :]]
                return (oracles.attention(*changed, allowed)[0] * grad).sum()

            assert_gradient(actual, numerical_gradient(loss, inputs[place]), name=name)

    @pytest.mark.parametrize("block_size", BLOCKS)
    @pytest.mark.parametrize("causal", [False, True])
    def test_every_block_size_gives_the_same(self, learner, rng, block_size, causal):
        Q, K, V = oracles.draw(rng, (2, 3), 7, 9, 3, 2)
        grad, mask = rng.normal(size=(2, 3, 7, 2)), oracles.draw_key_mask(rng, (2, 1, 9))
        allowed = oracles.allowed_pairs(7, 9, causal, mask)
        found = backward(learner, grad, Q, K, V, block_size, allowed, causal=causal, key_mask=mask)
        expected = oracles.attention_gradients(grad, Q, K, V, allowed)
        for name, actual, right in zip(BACKWARD, found, expected, strict=True):
            assert_array(actual, right, name=name, terms=50)

    @pytest.mark.edges
    def test_queries_without_keys_pass_on_nothing(self, learner, rng):
        Q, K, V = oracles.draw(rng, (), 6, 6, 3, 2)
        grad, mask = rng.normal(size=(6, 2)), np.arange(6) >= 4
        allowed = oracles.allowed_pairs(6, 6, True, mask)
        found = backward(learner, grad, Q, K, V, 2, allowed, causal=True, key_mask=mask)
        for name, actual, right in zip(
            BACKWARD, found, oracles.attention_gradients(grad, Q, K, V, allowed), strict=True
        ):
            assert_array(actual, right, name=name, terms=50)

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        Q, K, V = oracles.draw(rng, (), 5, 6, 3, 2)
        grad = rng.normal(size=(5, 2))
        output, log_sum_exp, _ = oracles.attention(Q, K, V)
        given = [x.astype(np.float32) for x in (grad, Q, K, V, output, log_sum_exp)]
        found = oracles.parts(learner.tiled_attention_backward(*given, 2), BACKWARD)
        for name, actual, right in zip(BACKWARD, found, oracles.attention_gradients(grad, Q, K, V), strict=True):
            assert_array(actual, right.astype(np.float32), name=name, dtype=np.float32, rtol=1e-3)

    @pytest.mark.purity
    def test_arguments_stay_as_they_are(self, learner, rng):
        Q, K, V = oracles.draw(rng, (), 5, 6, 3, 2)
        grad_output = rng.normal(size=(5, 2))
        output, log_sum_exp, _ = oracles.attention(Q, K, V)
        with unchanged(grad_output, Q, K, V, output, log_sum_exp):
            learner.tiled_attention_backward(grad_output, Q, K, V, output, log_sum_exp, 2)

    @pytest.mark.refusals
    @pytest.mark.parametrize("place", [0, 2, 3, 4, 5])
    def test_what_has_not_the_shapes_of_forward_is_refused(self, learner, place):
        right = [(5, 2), (5, 3), (6, 3), (6, 2), (5, 2), (5,)]
        others = {0: [(5, 3), (6, 2), (5, 1), (1, 2)], 2: [(6, 1), (1, 6, 3), (3,)], 3: [(5, 2), (1, 6, 2), (2,)]}
        for shape in {**others, 4: [(5, 3), (5,), (5, 1), (1, 2)], 5: [(6,), (5, 1), (1,)]}[place]:
            shapes = [*right[:place], shape, *right[place + 1 :]]
            with pytest.raises(ValueError):
                learner.tiled_attention_backward(*map(np.ones, shapes), 2)

    @pytest.mark.refusals
    def test_block_sizes_and_masks_that_do_not_fit(self, learner):
        given = [np.ones(shape) for shape in ((5, 2), (5, 3), (6, 3), (6, 2), (5, 2), (5,))]
        for block_size, mask in ((0, None), (-2, None), (2.5, None), (2, np.ones(5)), (2, np.ones((2, 6)))):
            with pytest.raises(ValueError):
                learner.tiled_attention_backward(*given, block_size, key_mask=mask)


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
