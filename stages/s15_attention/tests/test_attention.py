"""Public tests of stage s15: small examples with the numbers written out."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_gradient, assert_shape

pytestmark = pytest.mark.values

NORM = 2e-5  # relative tolerance that accepts eps inside the square root and outside


@pytest.fixture
def lookup():
    """One query that looks for the first feature, three keys (a match, no match, half a match) and their values."""
    Q = np.array([[1.0, 0.0]])
    K = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    V = np.array([[10.0, 0.0], [20.0, 0.0], [30.0, 6.0]])
    return Q, K, V


@pytest.fixture
def padding():
    """The mask of two sequences padded to five tokens: three of the first are real, two of the second."""
    return np.array([[1, 1, 1, 0, 0], [1, 1, 0, 0, 0]])


@pytest.fixture
def tokens():
    """One sequence of two tokens with two features."""
    return np.array([[[1.0, 2.0], [3.0, 0.0]]])


@pytest.fixture
def projections():
    """Projections of two features that change nothing."""
    return {name: np.eye(2) for name in ("W_Q", "W_K", "W_V", "W_O")}


def unpack(result, *names):
    """Return the values of a tuple; a failure that names them if it is none or has another length."""
    if not isinstance(result, (tuple, list)) or len(result) != len(names):
        got = f"{len(result)} values" if isinstance(result, (tuple, list)) else f"one {type(result).__name__}"
        raise AssertionError(f"expected the {len(names)} values ({', '.join(names)}), got {got}")
    return result


@pytest.mark.criterion("attention-scores")
class TestAttentionScores:
    def test_one_query_against_three_keys(self, learner, lookup):
        Q, K, _ = lookup
        assert_array(learner.compute_attention_scores(Q, K, scale=False), [[1.0, 0.0, 0.5]])

    def test_scores_are_divided_by_the_root_of_d_k(self, learner):
        Q = np.array([[2.0, 0.0, 1.0, 0.0], [0.0, 4.0, 0.0, 1.0]])  # d_k = 4: divided by 2
        K = np.array([[1.0, 1.0, 0.0, 0.0], [3.0, 0.0, 2.0, 5.0], [0.0, -1.0, 0.0, 6.0]])
        assert_array(learner.compute_attention_scores(Q, K), [[1.0, 4.0, 0.0], [2.0, 2.5, 1.0]])

    def test_each_sequence_of_a_batch_has_its_own_scores(self, learner):
        Q = np.array([[[2.0]], [[3.0]]])  # (batch 2, seq_q 1, d_k 1)
        K = np.array([[[1.0], [10.0]], [[2.0], [20.0]]])
        assert_array(learner.compute_attention_scores(Q, K), [[[2.0, 20.0]], [[6.0, 60.0]]])

    @pytest.mark.refusals
    def test_queries_and_keys_of_different_size_are_refused(self, learner):
        with pytest.raises(ValueError):
            learner.compute_attention_scores(np.ones((2, 3)), np.ones((2, 4)))


@pytest.mark.criterion("attention-weights")
class TestAttentionWeights:
    def test_better_matches_get_more_weight(self, learner):
        weights = learner.attention_weights(np.array([[1.0, 0.0, 0.5]]))
        assert_array(weights, [[0.5064803911, 0.1863237232, 0.3071958857]])

    def test_every_row_of_keys_sums_to_one(self, learner):
        scores = np.log([[1.0, 2.0, 1.0], [3.0, 1.0, 4.0]])  # exp undoes the log: 1/4, 2/4, 1/4 and 3/8, 1/8, 4/8
        assert_array(learner.attention_weights(scores), [[0.25, 0.5, 0.25], [0.375, 0.125, 0.5]])

    @pytest.mark.edges
    def test_large_scores_do_not_overflow(self, learner):
        scores = np.array([[10000.0, 10000.0], [-10000.0, 10000.0]])
        assert_array(learner.attention_weights(scores), [[0.5, 0.5], [0.0, 1.0]])

    @pytest.mark.edges
    def test_minus_infinity_gets_no_weight(self, learner):
        scores = np.array([[0.0, -np.inf, 0.0], [-np.inf, -np.inf, -np.inf]])
        assert_array(learner.attention_weights(scores), [[0.5, 0.0, 0.5], [0.0, 0.0, 0.0]])


@pytest.mark.criterion("scaled-dot-product")
class TestScaledDotProductAttention:
    def test_values_are_averaged_by_the_weights(self, learner, lookup):
        result = learner.scaled_dot_product_attention(*lookup)
        output, weights = unpack(result, "output", "weights")
        assert_array(weights, [[0.4555274905, 0.2246063436, 0.3198661659]], name="weights")
        assert_array(output, [[18.6433867537, 1.9191969952]], name="output")

    def test_a_masked_key_takes_no_part(self, learner, lookup):
        result = learner.scaled_dot_product_attention(*lookup, np.array([[True, True, False]]))
        output, weights = unpack(result, "output", "weights")
        assert_array(weights, [[0.6697615493, 0.3302384507, 0.0]], name="weights")
        assert_array(output, [[13.3023845067, 0.0]], name="output")

    @pytest.mark.edges
    def test_a_query_without_keys_gives_zeros(self, learner, lookup):
        _, K, V = lookup
        mask = np.array([[False, False, False], [True, False, False]])
        result = learner.scaled_dot_product_attention(np.ones((2, 2)), K, V, mask)
        output, weights = unpack(result, "output", "weights")
        assert_array(weights, [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], name="weights")
        assert_array(output, [[0.0, 0.0], [10.0, 0.0]], name="output")

    @pytest.mark.refusals
    def test_keys_without_values_are_refused(self, learner, lookup):
        Q, K, V = lookup
        with pytest.raises(ValueError):
            learner.scaled_dot_product_attention(Q, K, V[:2])


@pytest.mark.criterion("attention-mask")
class TestApplyAttentionMask:
    def test_padding_is_pushed_far_below_the_real_tokens(self, learner, padding):
        scores = np.array([[4.0, 1.0, 3.0, 2.0, 9.0], [5.0, 6.0, 0.0, 8.0, 7.0]])
        masked = learner.apply_attention_mask(scores, padding)
        assert_shape(masked, (2, 5))
        assert_array(masked[padding == 1], [4.0, 1.0, 3.0, 5.0, 6.0], name="scores of the real tokens")
        assert_array(masked <= -5e8, padding == 0, name="which scores are below -5e8")

    def test_one_mask_serves_every_sequence(self, learner):
        scores = np.array([[[1.0, 2.0]], [[3.0, 4.0]]])
        masked = learner.apply_attention_mask(scores, np.array([False, True]), mask_value=-np.inf)
        assert_array(masked, [[[-np.inf, 2.0]], [[-np.inf, 4.0]]])

    @pytest.mark.refusals
    def test_a_mask_that_does_not_fit_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.apply_attention_mask(np.zeros((2, 5)), np.array([True, True, False]))


@pytest.mark.criterion("split-heads")
class TestSplitHeads:
    def test_a_head_holds_its_features_of_every_token(self, learner):
        x = np.array([[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]])  # three tokens
        first, second = [[0.0, 1.0], [4.0, 5.0], [8.0, 9.0]], [[2.0, 3.0], [6.0, 7.0], [10.0, 11.0]]
        assert_array(learner.split_heads(x, 2), [[first, second]])

    def test_heads_come_before_the_sequence(self, learner):
        assert_shape(learner.split_heads(np.ones((2, 5, 12)), 3), (2, 3, 5, 4))

    @pytest.mark.refusals
    def test_features_that_cannot_be_shared_out_are_refused(self, learner):
        with pytest.raises(ValueError):
            learner.split_heads(np.ones((1, 2, 6)), 4)


@pytest.mark.criterion("merge-heads")
class TestMergeHeads:
    def test_the_heads_of_a_token_stand_side_by_side(self, learner):
        first, second = [[0.0, 1.0], [4.0, 5.0], [8.0, 9.0]], [[2.0, 3.0], [6.0, 7.0], [10.0, 11.0]]
        merged = learner.merge_heads(np.array([[first, second]]))
        assert_array(merged, [[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]])

    def test_heads_and_d_k_become_one_axis(self, learner):
        assert_shape(learner.merge_heads(np.ones((2, 3, 5, 4))), (2, 5, 12))


@pytest.mark.criterion("multi-head-forward")
class TestMultiHeadAttention:
    def test_every_head_attends_with_its_own_feature(self, learner, tokens, projections):
        result = learner.multi_head_attention_forward(tokens, tokens, tokens, **projections, num_heads=2)
        output, _ = unpack(result, "output", "cache")
        assert_array(output, [[[2.761594156, 1.9640275801], [2.9950547537, 1.0]]])

    def test_values_are_projected_and_the_heads_joined_by_w_o(self, learner, tokens, projections):
        projections["W_V"] = np.array([[2.0, 0.0], [0.0, 1.0]])  # doubles the first feature
        projections["W_O"] = np.array([[0.0, 1.0], [1.0, 0.0]])  # swaps the two
        result = learner.multi_head_attention_forward(tokens, tokens, tokens, **projections, num_heads=2)
        output, _ = unpack(result, "output", "cache")
        assert_array(output, [[[1.9640275801, 5.5231883119], [1.0, 5.9901095074]]])

    def test_the_class_attends_with_the_parameters_it_was_given(self, learner, tokens, projections):
        layer = learner.MultiHeadAttention(2, 1)
        layer.set_params(projections)
        output = layer.forward(tokens, tokens, tokens)
        assert_array(output, [[[1.391140635, 1.608859365], [2.9716679282, 0.0283320718]]])

    def test_the_output_has_one_row_for_each_query(self, learner):
        layer = learner.MultiHeadAttention(8, 4, rng=np.random.default_rng(0))
        assert_shape(layer.forward(np.ones((2, 5, 8)), np.ones((2, 3, 8)), np.ones((2, 3, 8))), (2, 5, 8))


@pytest.mark.criterion("sinusoidal-encoding")
class TestSinusoidalEncoding:
    def test_three_positions_of_four_features(self, learner):
        expected = [
            [0.0, 1.0, 0.0, 1.0],
            [0.8414709848, 0.5403023059, 0.0099998333, 0.9999500004],
            [0.9092974268, -0.4161468365, 0.0199986667, 0.9998000067],
        ]
        assert_array(learner.sinusoidal_encoding(3, 4), expected)

    @pytest.mark.edges
    def test_an_odd_number_of_features_ends_with_a_sine(self, learner):
        expected = [[0.0, 1.0, 0.0], [0.8414709848, 0.5403023059, 0.002154433]]
        assert_array(learner.sinusoidal_encoding(2, 3), expected)


@pytest.mark.criterion("layer-norm")
class TestLayerNorm:
    def test_features_get_mean_zero_and_variance_one(self, learner):
        x = np.array([[1.0, 2.0, 3.0, 4.0]])
        result = learner.layer_norm(x, np.ones(4), np.zeros(4))
        assert_array(result, [[-1.34164, -0.447213, 0.447213, 1.34164]], rtol=NORM)

    def test_every_token_is_normalised_by_itself(self, learner):
        x = np.array([[1.0, 3.0, 5.0], [10.0, 40.0, 10.0]])
        result = learner.layer_norm(x, np.ones(3), np.zeros(3))
        assert_array(result, [[-1.224745, 0.0, 1.224745], [-0.707107, 1.414214, -0.707107]], rtol=NORM)

    def test_gamma_scales_and_beta_shifts(self, learner):
        x = np.array([[1.0, 2.0, 3.0, 4.0]])
        result = learner.layer_norm(x, np.array([1.0, 2.0, 1.0, -1.0]), np.array([0.0, 10.0, 0.0, 1.0]))
        assert_array(result, [[-1.34164, 9.105573, 0.447213, -0.34164]], rtol=NORM)

    @pytest.mark.edges
    def test_equal_features_give_beta(self, learner):
        result = learner.layer_norm(np.full((1, 2), 5.0), np.array([3.0, 3.0]), np.array([1.0, -1.0]))
        assert_array(result, [[1.0, -1.0]], rtol=NORM)


@pytest.fixture
def network():
    """Two inputs of a network of three hidden units, and W1, b1, W2, b2; x W1 + b1 = [1, 1, 1.5], [-1, -0.5, 2]."""
    x = np.array([[1.0, 2.0], [-1.0, 0.5]])
    W1, b1 = np.array([[1.0, 0.0, -1.0], [0.0, 1.0, 1.0]]), np.array([0.0, -1.0, 0.5])
    W2, b2 = np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 4.0]]), np.array([0.0, -1.0])
    return x, W1, b1, W2, b2


@pytest.fixture
def sentence():
    """One sequence of two tokens with four features, for small_block."""
    return np.array([[[2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 3.0]]])


def small_block(learner):
    """Return a block of four features, two heads and two hidden units whose attention projects nothing."""
    block = learner.TransformerEncoderBlock(4, 2, d_ff=2)
    block.attention.set_params({name: np.eye(4) for name in ("W_Q", "W_K", "W_V", "W_O")})
    block.W1 = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [-1.0, 0.0]])
    block.b1 = np.array([0.0, 0.5])
    block.W2 = np.array([[0.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, -1.0]])
    return block


@pytest.mark.criterion("encoder-block")
class TestEncoderBlock:
    def test_feed_forward_switches_units_off_below_zero(self, learner, network):
        assert_array(learner.feed_forward(*network), [[3.0, 6.0], [0.0, 7.0]])

    def test_block_adds_and_normalises_twice(self, learner, sentence):
        expected = [[[1.241684, -1.412321, 0.559137, -0.388501], [-0.548695, -0.98795, -0.109814, 1.646459]]]
        assert_array(small_block(learner).forward(sentence), expected, rtol=NORM)

    def test_stacked_blocks_follow_one_another(self, learner, sentence):
        expected = [[[0.678523, -1.460794, 1.132658, -0.350387], [-0.255958, -1.184483, -0.144084, 1.584525]]]
        blocks = [small_block(learner), small_block(learner)]
        assert_array(learner.stack_encoder_blocks(sentence, blocks), expected, rtol=NORM)

    def test_new_block_has_four_hidden_units_a_feature(self, learner):
        block = learner.TransformerEncoderBlock(6, 3, rng=np.random.default_rng(0))
        assert_shape(block.W1, (6, 24), name="W1")
        assert_array(block.gamma1, np.ones(6), name="gamma1")
        assert_array(block.b2, np.zeros(6), name="b2")


@pytest.mark.criterion("feed-forward-backward")
class TestFeedForwardBackward:
    def test_feed_forward_gradients_pass_open_units_only(self, learner, network):
        result = learner.feed_forward_backward(np.array([[1.0, 0.0], [0.0, 1.0]]), *network)
        names = ("grad_x", "grad_W1", "grad_b1", "grad_W2", "grad_b2")
        grad_x, grad_W1, grad_b1, grad_W2, grad_b2 = unpack(result, *names)
        assert_gradient(grad_x, [[1.0, 2.0], [-4.0, 4.0]], name="grad_x")
        assert_gradient(grad_W1, [[1.0, 2.0, -4.0], [2.0, 4.0, 2.0]], name="grad_W1")
        assert_gradient(grad_b1, [1.0, 2.0, 4.0], name="grad_b1")
        assert_gradient(grad_W2, [[1.0, 0.0], [1.0, 0.0], [1.5, 2.0]], name="grad_W2")
        assert_gradient(grad_b2, [1.0, 1.0], name="grad_b2")

    @pytest.mark.edges
    def test_unit_at_exactly_zero_passes_nothing_back(self, learner):
        x, W1, b1 = np.array([[1.0]]), np.array([[1.0, 1.0]]), np.array([-1.0, 2.0])  # x W1 + b1 = [0, 3]
        result = learner.feed_forward_backward(np.array([[1.0]]), x, W1, b1, np.ones((2, 1)), np.zeros(1))
        grad_x, grad_W1, grad_b1, _, _ = unpack(result, "grad_x", "grad_W1", "grad_b1", "grad_W2", "grad_b2")
        assert_gradient(grad_x, [[1.0]], name="grad_x")
        assert_gradient(grad_W1, [[0.0, 1.0]], name="grad_W1")
        assert_gradient(grad_b1, [0.0, 1.0], name="grad_b1")


@pytest.mark.criterion("layer-norm-backward")
class TestLayerNormBackward:
    def test_layer_norm_gradient_knows_that_mean_and_variance_depend_on_x(self, learner):
        x, gamma = np.array([[1.0, 2.0, 3.0, 4.0]]), np.array([2.0, 1.0, 1.0, 1.0])
        result = learner.layer_norm_backward(np.array([[1.0, 0.0, 0.0, 2.0]]), x, gamma)
        grad_x, grad_gamma, grad_beta = unpack(result, "grad_x", "grad_gamma", "grad_beta")
        assert_gradient(grad_x, [[0.894427, -0.894427, -0.894427, 0.894427]], name="grad_x")
        assert_gradient(grad_gamma, [-1.3416403, 0.0, 0.0, 2.6832805], name="grad_gamma")
        assert_gradient(grad_beta, [1.0, 0.0, 0.0, 2.0], name="grad_beta")


@pytest.mark.criterion("multi-head-backward")
class TestMultiHeadAttentionBackward:
    def test_one_token_gives_the_gradients_of_a_product(self, learner):
        x, factors = np.array([[[3.0]]]), {"W_Q": 1.0, "W_K": 1.0, "W_V": 5.0, "W_O": 2.0}
        W = {name: np.array([[factor]]) for name, factor in factors.items()}
        _, cache = unpack(learner.multi_head_attention_forward(x, x, x, **W, num_heads=1), "output", "cache")
        result = learner.multi_head_attention_backward(np.ones((1, 1, 1)), cache)
        _, _, grad_V, grad_weights = unpack(result, "grad_Q", "grad_K", "grad_V", "grad_weights")
        assert_gradient(grad_V, [[[10.0]]], name="grad_V")
        assert_gradient(grad_weights["W_V"], [[6.0]], name="grad_weights['W_V']")
        assert_gradient(grad_weights["W_O"], [[15.0]], name="grad_weights['W_O']")

    def test_multi_head_gradients_of_two_tokens(self, learner, tokens, projections):
        forward = learner.multi_head_attention_forward(tokens, tokens, tokens, **projections, num_heads=2)
        _, cache = unpack(forward, "output", "cache")
        result = learner.multi_head_attention_backward(np.array([[[1.0, 0.0], [0.0, 2.0]]]), cache)
        grad_Q, grad_K, grad_V, grad_weights = unpack(result, "grad_Q", "grad_K", "grad_V", "grad_weights")
        assert_gradient(grad_Q, [[[0.41997434, 0.0], [0.0, 2.0]]], name="grad_Q")
        assert_gradient(grad_K, [[[-0.20998717, 0.0], [0.20998717, 0.0]]], name="grad_K")
        assert_gradient(grad_V, [[[0.11920292, 1.0], [0.88079708, 1.0]]], name="grad_V")
        assert_equal(isinstance(grad_weights, dict), True, name="whether grad_weights is a dict")
        assert_gradient(grad_weights["W_Q"], [[0.41997434, 6.0], [0.83994868, 0.0]], name="grad_weights['W_Q']")
        assert_gradient(grad_weights["W_O"], [[2.76159416, 5.99010951], [1.96402758, 2.0]], name="grad_weights['W_O']")


@pytest.mark.criterion("encoder-block-backward")
class TestEncoderBlockBackward:
    def test_the_gradient_of_a_token_comes_back_through_both(self, learner, sentence):
        block = small_block(learner)
        block.forward(sentence)
        grad_x = block.backward(np.array([[[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]]))
        expected = [
            [-0.09031694, 0.25002617, -0.37828311, 0.46729579],
            [0.00375526, 0.00717689, -0.14455237, 0.10039125],
        ]
        assert_gradient(grad_x, [expected], name="grad_x")
        assert_gradient(block.grad_beta2, [1.0, 0.0, 0.0, 0.0], name="grad_beta2")


@pytest.mark.criterion("positions-added")
class TestPositionsAdded:
    def test_every_sequence_gets_the_encoding_of_its_positions(self, learner):
        x = np.array([[[1.0, 1.0], [2.0, 2.0]], [[3.0, 3.0], [4.0, 4.0]]])
        pe = np.array([[0.0, 0.5], [10.0, 0.25], [20.0, 0.125]])
        expected = [[[1.0, 1.5], [12.0, 2.25]], [[3.0, 3.5], [14.0, 4.25]]]
        assert_array(learner.add_positional_encoding(x, pe), expected)

    @pytest.mark.refusals
    def test_a_sequence_longer_than_the_encoding_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.add_positional_encoding(np.zeros((1, 4, 2)), np.zeros((3, 2)))


@pytest.mark.criterion("positions-learned")
class TestPositionsLearned:
    def test_learned_encoding_has_a_row_for_each_position(self, learner):
        assert_shape(learner.learned_positional_encoding(6, 4, rng=np.random.default_rng(0)), (6, 4))


@pytest.mark.criterion("mask-builders")
class TestMaskBuilders:
    def test_no_position_sees_a_later_one(self, learner):
        mask = learner.create_causal_mask(4)
        assert_shape(mask, (4, 4))
        assert_array(mask == 1, np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]) == 1)

    def test_padding_mask_marks_the_real_tokens(self, learner, padding):
        mask = learner.create_padding_mask([3, 2], 5)
        assert_shape(mask, (2, 5))
        assert_array(mask == 1, padding == 1)

    @pytest.mark.refusals
    def test_a_length_beyond_the_padding_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.create_padding_mask([3, 6], 5)


@pytest.fixture
def additive():
    """Q, K, V of two queries and three keys, and W_q, W_k, v of two hidden units."""
    Q, K, V = np.eye(2), np.array([[0.0], [1.0], [-1.0]]), np.array([[10.0, 0.0], [20.0, 0.0], [30.0, 6.0]])
    return Q, K, V, np.array([[1.0, -1.0], [0.5, 2.0]]), np.array([[1.0, 2.0]]), np.array([1.0, 0.5])


@pytest.mark.criterion("additive-attention")
class TestAdditiveAttention:
    def test_a_small_network_scores_every_pair(self, learner, additive):
        result = learner.additive_attention(*additive)
        output, weights = unpack(result, "output", "weights")
        expected = [[0.2476648313, 0.6494357606, 0.1028994081], [0.3533299692, 0.5600826339, 0.0865873969]]
        assert_array(weights, expected, name="weights")
        assert_array(output, [[18.5523457681, 0.6173964485], [17.3325742772, 0.5195243814]], name="output")

    def test_a_masked_key_takes_no_part(self, learner, additive):
        result = learner.additive_attention(*additive, mask=np.array([True, True, False]))
        output, weights = unpack(result, "output", "weights")
        expected = [[0.2760725313, 0.7239274687, 0.0], [0.3868240574, 0.6131759426, 0.0]]
        assert_array(weights, expected, name="weights")
        assert_array(output, [[17.2392746866, 0.0], [16.1317594264, 0.0]], name="output")
