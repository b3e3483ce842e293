"""Hidden tests of stage s15: scores, masks, weights and the two kinds of attention."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_shape, unchanged
from hidden.s15_attention.checks import unpack
from hidden.s15_attention.oracles import additive_scores, attend, dot_products, draw_mask, draw_sizes, softmax

pytestmark = pytest.mark.values


@pytest.mark.criterion("attention-scores")
class TestAttentionScores:
    @pytest.mark.parametrize("leading", [((2, 3), (2, 3)), ((2, 1), (3,))], ids=["alike", "broadcast"])
    def test_any_shapes(self, learner, rng, leading):
        seq_q, seq_k, d_k = draw_sizes(rng, 3)
        Q, K = rng.normal(size=(*leading[0], seq_q, d_k)), rng.normal(size=(*leading[1], seq_k, d_k))
        with unchanged(Q, K):
            scores = learner.compute_attention_scores(Q, K)
        assert_array(scores, dot_products(Q, K, np.sqrt(d_k)))

    def test_as_many_queries_as_keys_as_features(self, learner, rng):
        n = int(rng.integers(3, 7))
        Q, K = rng.normal(size=(n, n)), rng.normal(size=(n, n))
        assert_array(learner.compute_attention_scores(Q, K, scale=False), dot_products(Q, K))
        assert_array(learner.compute_attention_scores(Q, K, scale=True), dot_products(Q, K, np.sqrt(n)))

    @pytest.mark.refusals
    def test_shapes_that_do_not_fit_are_refused(self, learner, rng):
        for Q, K in (((3, 1), (2, 5)), ((4,), (3, 4)), ((3, 4), (4,)), ((2, 3, 4), (3, 5, 4))):
            with pytest.raises(ValueError):
                learner.compute_attention_scores(rng.normal(size=Q), rng.normal(size=K))

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        Q, K = (rng.normal(size=(2, seq, 6)).astype(np.float32) for seq in (3, 5))
        expected = dot_products(Q, K, np.sqrt(6))
        assert_array(learner.compute_attention_scores(Q, K), expected, dtype="float32")


@pytest.mark.criterion("attention-weights")
class TestAttentionWeights:
    def test_any_shape_and_axis(self, learner, rng):
        scores = 3 * rng.normal(size=(2, *draw_sizes(rng, 3)))
        with unchanged(scores):
            assert_array(learner.attention_weights(scores), softmax(scores))
        for axis in (0, 2, -3):
            weights = learner.attention_weights(scores, axis=axis)
            assert_array(weights, softmax(scores, axis), name=f"result with axis={axis}")

    @pytest.mark.refusals
    def test_an_axis_that_scores_do_not_have_is_refused(self, learner, rng):
        for axis in (4, -5):
            with pytest.raises(ValueError):
                learner.attention_weights(rng.normal(size=(2, 3, 4, 5)), axis=axis)

    @pytest.mark.edges
    def test_rows_of_very_different_size(self, learner, rng):
        offsets = rng.permutation([-1e4, -700.0, 0.0, 1e4])[:, None]
        scores = rng.integers(-20, 20, size=(4, 5)) / 8 + offsets  # exact in float32 too
        assert_array(learner.attention_weights(scores), softmax(scores))
        whole = rng.integers(-4, 5, size=(3, 6))
        assert_array(learner.attention_weights(whole), softmax(whole), name="result for integers")

    @pytest.mark.edges
    def test_scores_below_every_number_that_stands_for_minus_infinity(self, learner, rng):
        scores = -1e37 * rng.uniform(1.0, 2.0, size=(3, 5))
        scores[0, 2] = -np.inf
        assert_array(learner.attention_weights(scores), softmax(scores))

    @pytest.mark.edges
    def test_minus_infinity_gets_exactly_nothing(self, learner, rng):
        scores = rng.normal(size=(3, 4, 6))
        blocked = ~draw_mask(rng, scores.shape, empty_row=True)
        scores[blocked] = -np.inf
        weights = learner.attention_weights(scores)
        assert_array(weights, softmax(scores))
        assert_array(weights[blocked], np.zeros(blocked.sum()), rtol=0, atol=0, name="weights where the score is -inf")

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        scores = rng.normal(size=(4, 7)).astype(np.float32)
        assert_array(learner.attention_weights(scores), softmax(scores), dtype="float32")


def assert_attention(result, scores, V, mask=None, dtype=None):
    """Assert that result is (output, weights) of these scores, with masked weights of exactly zero."""
    output, weights = unpack(result, "output", "weights")
    expected_output, expected_weights = attend(scores, V, mask)
    assert_array(weights, expected_weights, name="weights", dtype=dtype)
    hidden = expected_weights == 0
    assert_array(weights[hidden], np.zeros(hidden.sum()), rtol=0, atol=0, name="weights of masked keys")
    assert_array(output, expected_output, name="output", dtype=dtype)


@pytest.mark.criterion("scaled-dot-product")
class TestScaledDotProductAttention:
    def test_any_shapes(self, learner, rng):
        seq_q, seq_k, d_k, d_v = draw_sizes(rng, 4)
        Q, K, V = (rng.normal(size=(2, 2, *shape)) for shape in ((seq_q, d_k), (seq_k, d_k), (seq_k, d_v)))
        with unchanged(Q, K, V):
            result = learner.scaled_dot_product_attention(Q, K, V)
        assert_attention(result, dot_products(Q, K, np.sqrt(d_k)), V)

    def test_mask_of_queries_and_keys(self, learner, rng):
        n = int(rng.integers(3, 7))
        Q, K, V = rng.normal(size=(3, 2, n, 5))
        mask = draw_mask(rng, (n, n))
        with unchanged(mask):
            result = learner.scaled_dot_product_attention(Q, K, V, mask)
        assert_attention(result, dot_products(Q, K, np.sqrt(5)), V, mask)

    @pytest.mark.edges
    def test_scores_below_every_number_that_stands_for_minus_infinity(self, learner, rng):
        """The score of a key that may be seen is lower still than any finite number which hides one."""
        Q, K, V = np.full((4, 1), 1e18), -1e18 * rng.uniform(1.0, 2.0, size=(5, 1)), rng.normal(size=(5, 2))
        mask = draw_mask(rng, (4, 5), empty_row=True)
        assert_attention(learner.scaled_dot_product_attention(Q, K, V, mask), dot_products(Q, K, 1.0), V, mask)

    @pytest.mark.edges
    def test_sequence_of_padding_gives_zeros(self, learner, rng):
        seq_q, seq_k, d_k = draw_sizes(rng, 3)
        Q, K, V = rng.normal(size=(3, seq_q, d_k)), rng.normal(size=(3, seq_k, d_k)), rng.normal(size=(3, seq_k, 1))
        mask = draw_mask(rng, (3, 1, seq_k), empty_row=True).astype(int)
        result = learner.scaled_dot_product_attention(Q, K, V, mask)
        assert_attention(result, dot_products(Q, K, np.sqrt(d_k)), V, mask)

    @pytest.mark.edges
    def test_large_scores(self, learner, rng):
        Q = 1000.0 * rng.integers(-9, 10, size=(2, 6, 4))  # scores up to 18000, exact in float32 too
        K, V = rng.integers(-4, 5, size=(2, 5, 4)) / 4, rng.normal(size=(2, 5, 2))
        mask = draw_mask(rng, (6, 5), empty_row=True)
        result = learner.scaled_dot_product_attention(Q, K, V, mask=mask)
        assert_attention(result, dot_products(Q, K, 2.0), V, mask)

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        Q, K, V = rng.normal(size=(3, 2, 4, 6)).astype(np.float32)
        mask = draw_mask(rng, (4, 4), empty_row=True)
        result = learner.scaled_dot_product_attention(Q, K, V, mask)
        assert_attention(result, dot_products(Q, K, np.sqrt(6)), V.astype(np.float64), mask, dtype="float32")

    @pytest.mark.refusals
    def test_shapes_that_do_not_fit_are_refused(self, learner, rng):
        Q, K, V = rng.normal(size=(3, 2, 4, 6))
        with pytest.raises(ValueError):
            learner.scaled_dot_product_attention(Q[..., :1], K, V)
        with pytest.raises(ValueError):
            learner.scaled_dot_product_attention(Q, K, rng.normal(size=(3, 4, 6)))
        for mask in (np.ones((2, 4, 3), dtype=bool), np.ones((3, 4, 4), dtype=bool)):
            with pytest.raises(ValueError):
                learner.scaled_dot_product_attention(Q, K, V, mask)


def assert_masked(result, scores, mask, mask_value):
    """Assert that allowed scores are as they were and masked ones low enough, replaced or lowered by mask_value."""
    allowed = np.broadcast_to(np.asarray(mask) == 1, scores.shape)
    assert_shape(result, scores.shape)
    low_enough = ~allowed & (result <= mask_value / 2)
    assert_array(np.where(low_enough, mask_value, result), np.where(allowed, scores, mask_value))


@pytest.mark.criterion("attention-mask")
class TestApplyAttentionMask:
    def test_mask_of_every_rank(self, learner, rng):
        scores = rng.normal(size=(2, 3, 4, 5))
        for shape, kind in (((5,), int), ((4, 5), bool), ((3, 4, 5), int), ((2, 3, 4, 5), bool), ((2, 1, 1, 5), int)):
            mask = draw_mask(rng, shape).astype(kind)
            with unchanged(scores, mask):
                result = learner.apply_attention_mask(scores, mask)
            assert_masked(result, scores, mask, -1e9)
            left = np.where(mask == 1, 0.0, softmax(result))
            assert_array(left, np.zeros(scores.shape), rtol=0, atol=0, name="softmax of the masked scores")

    def test_mask_value_is_used(self, learner, rng):
        scores, mask = rng.normal(size=(3, 5)), draw_mask(rng, (3, 5))
        for mask_value in (-60.0, -1e4, -np.inf):
            assert_masked(learner.apply_attention_mask(scores, mask, mask_value), scores, mask, mask_value)
        result = learner.apply_attention_mask(scores, mask)
        assert_masked(result, scores, mask, -1e9)
        assert_array(result[~mask], np.full((~mask).sum(), -1e9), rtol=1e-6, name="masked scores by default")

    @pytest.mark.refusals
    def test_large_mask_does_not_enlarge_the_scores(self, learner, rng):
        with pytest.raises(ValueError):
            learner.apply_attention_mask(rng.normal(size=(3, 4)), np.ones((2, 3, 4), dtype=bool))


@pytest.mark.criterion("additive-attention")
class TestAdditiveAttention:
    def test_any_shapes(self, learner, rng):
        seq_q, seq_k, d_q, d_k, d_a = draw_sizes(rng, 5)
        Q, K, V = rng.normal(size=(2, seq_q, d_q)), rng.normal(size=(2, seq_k, d_k)), rng.normal(size=(2, seq_k, 3))
        network = rng.normal(size=(d_q, d_a)), rng.normal(size=(d_k, d_a)), 3 * rng.normal(size=d_a)
        with unchanged(Q, K, V, *network):
            result = learner.additive_attention(Q, K, V, *network)
        assert_attention(result, additive_scores(Q, K, *network), V)

    def test_sizes_that_are_all_alike(self, learner, rng):
        Q, K, V, W_q, W_k = rng.normal(size=(5, 4, 4))
        v = 3 * rng.normal(size=4)
        result = learner.additive_attention(Q, K, V, W_q, W_k, v)
        assert_attention(result, additive_scores(Q, K, W_q, W_k, v), V)

    @pytest.mark.edges
    def test_mask_with_a_query_that_sees_nothing(self, learner, rng):
        Q, K, V = rng.normal(size=(2, 3, 2)), rng.normal(size=(2, 5, 3)), rng.normal(size=(2, 5, 4))
        network = rng.normal(size=(2, 6)), rng.normal(size=(3, 6)), 2 * rng.normal(size=6)
        mask, scores = draw_mask(rng, (2, 3, 5), empty_row=True), additive_scores(Q, K, *network)
        for kind in (bool, int):
            result = learner.additive_attention(Q, K, V, *network, mask=mask.astype(kind))
            assert_attention(result, scores, V, mask)

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        Q, K, V, W_q, W_k = rng.normal(size=(5, 3, 3)).astype(np.float32)
        v = rng.normal(size=3).astype(np.float32)
        expected = additive_scores(*(x.astype(np.float64) for x in (Q, K, W_q, W_k, v)))
        result = learner.additive_attention(Q, K, V, W_q, W_k, v)
        assert_attention(result, expected, V.astype(np.float64), dtype="float32")

    @pytest.mark.refusals
    def test_shapes_that_do_not_fit_are_refused(self, learner, rng):
        fitting = {"Q": (4, 4, 3), "K": (4, 1, 5), "V": (4, 1, 6), "W_q": (3, 7), "W_k": (5, 7), "v": (7,)}
        wrong = {
            "Q": [(3, 4, 3)], "K": [(3, 1, 5)], "V": [(4, 2, 6), (3, 1, 6)],
            "W_q": [(3, 1), (7, 3)], "W_k": [(5, 1), (7, 5)], "v": [(7, 1), (1,), ()],
        }  # fmt: skip
        for name, shape in ((name, shape) for name, shapes in wrong.items() for shape in shapes):
            arguments = {each: rng.normal(size=size) for each, size in {**fitting, name: shape}.items()}
            with pytest.raises(ValueError):
                learner.additive_attention(*arguments.values())
        arguments = {each: rng.normal(size=size) for each, size in fitting.items()}
        with pytest.raises(ValueError):
            learner.additive_attention(*arguments.values(), mask=np.ones((4, 2), dtype=bool))
