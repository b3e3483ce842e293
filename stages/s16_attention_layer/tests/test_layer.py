"""Public tests of stage s16: one small layer with the numbers written out, and the shapes of the guide."""

import math
import warnings

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_gradient, assert_shape

pytestmark = pytest.mark.values

LOG3 = math.log(3.0)
SIZES = {"batch": 2, "heads": 4, "seq": 10, "head_dimension": 16}  # an embedding of 64


@pytest.fixture
def tokens():
    """One sequence of two tokens with four features: two for head 0, two for head 1."""
    return np.array([[[1.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0]]])


@pytest.fixture
def grad_output():
    """A gradient of the output for the two tokens."""
    return np.array([[[1.0, 0.0, 0.0, 2.0], [0.0, 1.0, 1.0, 0.0]]])


def small_layer(learner, heads=2):
    """Return a layer of four features whose scaled scores, with two heads, are ln 3 times a whole number."""
    layer = learner.Attention(4, heads)
    layer.query_weights = math.sqrt(2.0) * LOG3 * np.eye(4)
    layer.key_weights = np.eye(4)
    layer.value_weights = 4.0 * np.eye(4)
    layer.output_weights = np.array(
        [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]
    )
    return layer


def guide_layer(learner):
    """Return a layer of 64 features and 4 heads after its forward pass over (2, 10, 64)."""
    layer = learner.Attention(64, 4, np.random.default_rng(0))
    layer.forward(np.random.default_rng(1).normal(size=(2, 10, 64)))
    return layer


def own_scale(actual, expected, name):
    """Return the part of the scale, 1, 1/sqrt(2) or its root, that a layer's queries or keys carry."""
    assert_shape(actual, np.shape(expected), name=name)
    factors = (1.0, 2.0**-0.5, 2.0**-0.25)
    return min(factors, key=lambda factor: np.abs(np.asarray(actual) - factor * np.asarray(expected)).max())


def either(actual, expected, other):
    """Return whichever of two right answers is closer to the actual one."""
    if np.shape(actual) != np.shape(expected):
        return expected
    distances = [np.abs(np.asarray(actual) - np.asarray(right)).max() for right in (expected, other)]
    return expected if distances[0] <= distances[1] else other


@pytest.mark.criterion("initial-weights")
class TestInitialWeights:
    def test_sizes_of_the_guide(self, learner):
        layer = learner.Attention(64, 4, np.random.default_rng(0))
        assert_equal(layer.embedding_dimension, 64, name="embedding_dimension")
        assert_equal(layer.number_of_heads, 4, name="number_of_heads")
        assert_equal(layer.head_dimension, 16, name="head_dimension")
        assert_array(layer.scale_factor, 0.25, name="scale_factor")

    def test_sizes_of_the_original_transformer_by_default(self, learner):
        layer = learner.Attention()
        assert_equal((layer.embedding_dimension, layer.number_of_heads), (512, 8), name="sizes of a layer without any")
        assert_equal(layer.head_dimension, 64, name="head_dimension")

    @pytest.mark.parametrize("name", ["query_weights", "key_weights", "value_weights", "output_weights"])
    def test_weights_are_small_random_numbers(self, learner, name):
        weights = getattr(learner.Attention(64, 4, np.random.default_rng(0)), name)
        assert_shape(weights, (64, 64), name=name)
        assert_array(np.std(weights), 0.02, rtol=0.1, atol=0, name=f"standard deviation of {name}")
        assert_array(np.mean(weights), 0.0, atol=0.003, name=f"mean of {name}")

    @pytest.mark.refusals
    def test_heads_that_cannot_share_the_features_are_refused(self, learner):
        for heads in (3, 0, -2):
            with pytest.raises(ValueError):
                learner.Attention(8, heads)


@pytest.mark.criterion("softmax")
class TestSoftmax:
    def test_weights_are_in_proportion_to_the_powers_of_e(self, learner):
        scores = np.log([[1.0, 2.0, 1.0], [3.0, 1.0, 4.0]])
        assert_array(learner.Attention(4, 2).softmax(scores), [[0.25, 0.5, 0.25], [0.375, 0.125, 0.5]])

    def test_the_last_of_four_axes_sums_to_one(self, learner):
        scores = np.random.default_rng(0).normal(size=(2, 4, 10, 10))
        weights = learner.Attention(64, 4).softmax(scores)
        assert_shape(weights, (2, 4, 10, 10), axes="batch heads seq seq")
        assert_array(np.sum(weights, axis=-1), np.ones((2, 4, 10)), name="sums over the last axis")

    @pytest.mark.edges
    def test_large_scores_do_not_overflow(self, learner):
        scores = np.array([[10000.0, 10000.0], [-10000.0, 10000.0]])
        assert_array(learner.Attention(4, 2).softmax(scores), [[0.5, 0.5], [0.0, 1.0]])

    @pytest.mark.edges
    def test_minus_infinity_gets_no_weight(self, learner):
        scores = np.array([[0.0, -np.inf, 0.0], [-np.inf, -np.inf, -np.inf]])
        assert_array(learner.Attention(4, 2).softmax(scores), [[0.5, 0.0, 0.5], [0.0, 0.0, 0.0]])


@pytest.mark.criterion("single-head-attention")
class TestSingleHead:
    def test_two_tokens(self, learner, tokens):
        layer = small_layer(learner, heads=1)
        layer.query_weights = 2.0 * LOG3 * np.eye(4)  # over the root of 4: scores [3, 1] and [1, 2] times ln 3
        expected = [[[3.6, 7.2, 4.0, 0.4], [1.0, 2.0, 4.0, 3.0]]]
        assert_array(layer.forward(tokens), expected, axes="batch seq embedding")

    def test_output_has_the_shape_of_the_input(self, learner):
        layer = learner.Attention(64, 1, np.random.default_rng(0))
        assert_shape(layer.forward(np.ones((2, 10, 64))), (2, 10, 64), axes="batch seq embedding")


@pytest.mark.criterion("split-heads")
class TestSplitHeads:
    def test_a_head_holds_its_features_of_every_token(self, learner):
        x = np.array([[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]])  # three tokens
        first, second = [[0.0, 1.0], [4.0, 5.0], [8.0, 9.0]], [[2.0, 3.0], [6.0, 7.0], [10.0, 11.0]]
        assert_array(learner.Attention(4, 2).split_heads(x), [[first, second]])

    def test_shapes_of_the_guide(self, learner):
        heads = learner.Attention(64, 4).split_heads(np.ones((2, 10, 64)))
        assert_shape(heads, (2, 4, 10, 16), axes="batch heads seq head_dimension")

    @pytest.mark.refusals
    def test_other_shapes_are_refused(self, learner):
        layer = learner.Attention(4, 2)
        for shape in ((3, 4), (1, 3, 8), (1, 2, 3, 4)):
            with pytest.raises(ValueError):
                layer.split_heads(np.ones(shape))


@pytest.mark.criterion("concatenate-heads")
class TestConcatenateHeads:
    def test_the_heads_of_a_token_stand_side_by_side(self, learner):
        first, second = [[0.0, 1.0], [4.0, 5.0], [8.0, 9.0]], [[2.0, 3.0], [6.0, 7.0], [10.0, 11.0]]
        joined = learner.Attention(4, 2).concatenate_heads(np.array([[first, second]]))
        assert_array(joined, [[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]])

    def test_shapes_of_the_guide(self, learner):
        joined = learner.Attention(64, 4).concatenate_heads(np.ones((2, 4, 10, 16)))
        assert_shape(joined, (2, 10, 64), axes="batch seq embedding")

    @pytest.mark.refusals
    def test_other_shapes_are_refused(self, learner):
        layer = learner.Attention(4, 2)
        for shape in ((2, 3, 2), (1, 4, 3, 2), (1, 2, 3, 4)):
            with pytest.raises(ValueError):
                layer.concatenate_heads(np.ones(shape))


@pytest.mark.criterion("queries-multihead")
class TestQueries:
    def test_two_tokens(self, learner, tokens):
        layer = small_layer(learner)
        layer.forward(tokens)
        expected = math.sqrt(2.0) * LOG3 * np.array([[[[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [0.0, 1.0]]]])
        queries = layer.queries_multihead
        scale = own_scale(queries, expected, "queries_multihead")
        assert_array(queries, scale * expected, name="queries_multihead")

    def test_shape_of_the_guide(self, learner):
        assert_shape(guide_layer(learner).queries_multihead, (2, 4, 10, 16), name="queries_multihead")


@pytest.mark.criterion("keys-multihead")
class TestKeys:
    def test_two_tokens(self, learner, tokens):
        layer = small_layer(learner)
        layer.forward(tokens)
        expected = np.array([[[[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [0.0, 1.0]]]])
        keys = layer.keys_multihead
        assert_array(keys, own_scale(keys, expected, "keys_multihead") * expected, name="keys_multihead")

    def test_shape_of_the_guide(self, learner):
        assert_shape(guide_layer(learner).keys_multihead, (2, 4, 10, 16), name="keys_multihead")


@pytest.mark.criterion("values-multihead")
class TestValues:
    def test_two_tokens(self, learner, tokens):
        layer = small_layer(learner)
        layer.forward(tokens)
        expected = [[[[4.0, 0.0], [0.0, 4.0]], [[4.0, 4.0], [0.0, 4.0]]]]
        assert_array(layer.values_multihead, expected, name="values_multihead")

    def test_shape_of_the_guide(self, learner):
        assert_shape(guide_layer(learner).values_multihead, (2, 4, 10, 16), name="values_multihead")


@pytest.mark.criterion("attention-scores")
class TestAttentionScores:
    def test_two_tokens(self, learner, tokens):
        layer = small_layer(learner)
        layer.forward(tokens)
        expected = math.sqrt(2.0) * LOG3 * np.array([[[[1.0, 0.0], [0.0, 1.0]], [[2.0, 1.0], [1.0, 1.0]]]])
        scores = layer.attention_scores
        scaled = expected / math.sqrt(2.0)  # if queries and keys carry the scale already
        assert_array(scores, either(scores, expected, scaled), name="attention_scores")

    def test_shape_of_the_guide(self, learner):
        assert_shape(guide_layer(learner).attention_scores, (2, 4, 10, 10), name="attention_scores")


@pytest.mark.criterion("scaled-scores")
class TestScaledScores:
    def test_two_tokens(self, learner, tokens):
        layer = small_layer(learner)
        layer.forward(tokens)
        scores, scaled = layer.attention_scores, layer.scaled_scores
        expected = LOG3 * np.array([[[[1.0, 0.0], [0.0, 1.0]], [[2.0, 1.0], [1.0, 1.0]]]])
        assert_array(scaled, expected, name="scaled_scores")
        assert_array(scores, either(scores, math.sqrt(2.0) * expected, expected), name="attention_scores")

    def test_shape_of_the_guide(self, learner):
        assert_shape(guide_layer(learner).scaled_scores, (2, 4, 10, 10), name="scaled_scores")


@pytest.mark.criterion("masked-scores")
class TestMaskedScores:
    def test_without_a_mask_they_are_the_scaled_scores(self, learner, tokens):
        layer = small_layer(learner)
        layer.forward(tokens)
        scaled, masked = layer.scaled_scores, layer.masked_scores
        expected = LOG3 * np.array([[[[1.0, 0.0], [0.0, 1.0]], [[2.0, 1.0], [1.0, 1.0]]]])
        assert_array(masked, expected, name="masked_scores")
        assert_array(scaled, expected, name="scaled_scores")

    def test_a_causal_mask_forbids_what_is_above_the_diagonal(self, learner, tokens):
        layer = small_layer(learner)
        layer.forward(tokens, causal=True)
        masked = layer.masked_scores
        assert_shape(masked, (1, 2, 2, 2), name="masked_scores")
        assert_array(masked[0, 1, [0, 1, 1], [0, 0, 1]], [2 * LOG3, LOG3, LOG3], name="allowed places of head 1")
        assert_array(masked <= -1e8, [[[[False, True], [False, False]]] * 2], name="masked_scores <= -1e8")

    def test_a_padding_mask_forbids_a_column(self, learner, tokens):
        layer = small_layer(learner)
        layer.forward(tokens, padding_mask=np.array([[True, False]]))
        masked = layer.masked_scores
        assert_shape(masked, (1, 2, 2, 2), name="masked_scores")
        assert_array(masked[0, :, :, 0], [[LOG3, 0.0], [2 * LOG3, LOG3]], name="allowed places")
        assert_array(masked <= -1e8, [[[[False, True], [False, True]]] * 2], name="masked_scores <= -1e8")


@pytest.mark.criterion("attention-weights")
class TestAttentionWeights:
    def test_two_tokens(self, learner, tokens):
        layer = small_layer(learner)
        layer.forward(tokens)
        expected = [[[[0.75, 0.25], [0.25, 0.75]], [[0.75, 0.25], [0.5, 0.5]]]]
        assert_array(layer.attention_weights, expected, name="attention_weights")

    def test_with_a_causal_mask_the_rows_still_sum_to_one(self, learner, tokens):
        layer = small_layer(learner)
        layer.forward(tokens, causal=True)
        expected = [[[[1.0, 0.0], [0.25, 0.75]], [[1.0, 0.0], [0.5, 0.5]]]]
        assert_array(layer.attention_weights, expected, name="attention_weights")

    def test_shape_and_sums_of_the_guide(self, learner):
        weights = guide_layer(learner).attention_weights
        assert_shape(weights, (2, 4, 10, 10), name="attention_weights")
        assert_array(np.sum(weights, axis=-1), np.ones((2, 4, 10)), name="sums over the keys")


@pytest.mark.criterion("attention-output")
class TestAttentionOutput:
    def test_two_tokens(self, learner, tokens):
        layer = small_layer(learner)
        layer.forward(tokens)
        expected = [[[[3.0, 1.0], [1.0, 3.0]], [[3.0, 4.0], [2.0, 4.0]]]]
        assert_array(layer.attention_output, expected, name="attention_output")

    def test_shape_of_the_guide(self, learner):
        assert_shape(guide_layer(learner).attention_output, (2, 4, 10, 16), name="attention_output")


@pytest.mark.criterion("concatenated-heads")
class TestConcatenatedHeads:
    def test_two_tokens(self, learner, tokens):
        layer = small_layer(learner)
        layer.forward(tokens)
        assert_array(
            layer.concatenated_heads, [[[3.0, 1.0, 3.0, 4.0], [1.0, 3.0, 2.0, 4.0]]], name="concatenated_heads"
        )

    def test_shape_of_the_guide(self, learner):
        assert_shape(guide_layer(learner).concatenated_heads, (2, 10, 64), name="concatenated_heads")


@pytest.mark.criterion("output-projection")
class TestSeveralHeads:
    def test_two_tokens(self, learner, tokens):
        expected = [[[3.0, 6.0, 4.0, 1.0], [1.0, 4.0, 4.0, 3.0]]]
        assert_array(small_layer(learner).forward(tokens), expected, axes="batch seq embedding")

    @pytest.mark.parametrize("heads", [1, 2, 4, 8])
    def test_output_has_the_shape_of_the_input(self, learner, heads):
        layer = learner.Attention(64, heads, np.random.default_rng(0))
        assert_shape(layer.forward(np.ones((2, 10, 64))), (2, 10, 64), axes="batch seq embedding")


@pytest.mark.criterion("causal-mask")
class TestCausalMask:
    @pytest.mark.edges
    def test_next_to_a_padding_mask_both_have_to_allow_a_key(self, learner, tokens):
        output = small_layer(learner).forward(tokens, causal=True, padding_mask=np.array([[False, True]]))
        assert_array(output, [[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 4.0, 4.0]]], axes="batch seq embedding")

    def test_the_first_token_sees_itself_only(self, learner, tokens):
        output = small_layer(learner).forward(tokens, causal=True)
        assert_array(output, [[[4.0, 8.0, 4.0, 0.0], [1.0, 4.0, 4.0, 3.0]]], axes="batch seq embedding")

    def test_a_later_token_changes_nothing_before_it(self, learner, tokens):
        layer = small_layer(learner, heads=1)
        before = layer.forward(tokens, causal=True)
        tokens[0, 1] = [9.0, -9.0, 5.0, 2.0]
        after = layer.forward(tokens, causal=True)
        assert_shape(after, (1, 2, 4))
        assert_array(after[0, 0], before[0, 0], name="output of token 0 after token 1 was changed")


@pytest.mark.criterion("padding-mask")
class TestPaddingMask:
    def test_no_query_attends_to_padding(self, learner, tokens):
        output = small_layer(learner).forward(tokens, padding_mask=np.array([[True, False]]))
        assert_array(output, [[[4.0, 8.0, 4.0, 0.0], [4.0, 8.0, 4.0, 0.0]]], axes="batch seq embedding")

    def test_zeros_and_ones_will_do(self, learner, tokens):
        output = small_layer(learner).forward(tokens, padding_mask=np.array([[0, 1]]))
        assert_array(output, [[[0.0, 0.0, 4.0, 4.0], [0.0, 0.0, 4.0, 4.0]]], axes="batch seq embedding")

    @pytest.mark.edges
    def test_a_query_without_keys_gives_zeros(self, learner, tokens):
        layer = small_layer(learner)
        output = layer.forward(tokens, causal=True, padding_mask=np.array([[False, True]]))
        assert_array(output, [[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 4.0, 4.0]]], axes="batch seq embedding")

    @pytest.mark.refusals
    def test_a_mask_of_another_shape_is_refused(self, learner, tokens):
        layer = small_layer(learner)
        for shape in ((2,), (1, 3), (1, 2, 2)):
            with pytest.raises(ValueError):
                layer.forward(tokens, padding_mask=np.ones(shape, dtype=bool))


@pytest.fixture
def memory():
    """One sequence of three other tokens: the two tokens and one of zeros between them."""
    return np.array([[[1.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0]]])


@pytest.mark.criterion("cross-attention")
class TestCrossAttention:
    def test_one_query_against_three_keys(self, learner, tokens, memory):
        output = small_layer(learner).forward(tokens[:, 1:], memory, 5.0 * memory)
        # head 0: weights 0.2, 0.2, 0.6, head 1: 3/7, 1/7, 3/7, of values 20 times a token's features
        expected = [[[4.0, 120 / 7, 120 / 7, 12.0]]]
        assert_array(output, expected, axes="batch seq_q embedding")

    def test_values_are_those_of_the_keys_by_default(self, learner, tokens, memory):
        expected = [[[0.8, 24 / 7, 24 / 7, 2.4]]]
        assert_array(small_layer(learner).forward(tokens[:, 1:], memory), expected, axes="batch seq_q embedding")

    @pytest.mark.refusals
    def test_keys_without_values_and_other_batches_are_refused(self, learner, tokens, memory):
        layer = small_layer(learner)
        with pytest.raises(ValueError):
            layer.forward(tokens, memory, tokens)
        with pytest.raises(ValueError):
            layer.forward(np.concatenate([tokens, tokens]), memory)


@pytest.mark.criterion("large-inputs")
@pytest.mark.edges
class TestLargeInputs:
    def test_the_best_key_takes_everything(self, learner):
        layer = small_layer(learner, heads=1)
        x = 1e4 * np.array([[[2.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, -1.0]]])
        expected = 1e4 * np.array([[[8.0, 0.0, 0.0, 0.0], [6.0, 0.0, 0.0, 2.0], [0.0, 0.0, -4.0, 0.0]]])
        assert_array(layer.forward(x), expected, axes="batch seq embedding")

    def test_a_forbidden_key_stays_forbidden_below_very_low_scores(self, learner):
        layer = small_layer(learner, heads=1)
        queries = np.array([[[3e3, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]])
        keys = 3e3 * np.array([[[-1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.5, 0.0, 0.0, 0.0]]])
        output = layer.forward(queries, keys, padding_mask=np.array([[True, False, False]]))
        assert_array(output, [[[-12000.0, 0.0, 0.0, 0.0]] * 2], axes="batch seq_q embedding")

    def test_neither_they_nor_a_query_without_keys_give_a_warning(self, learner, tokens):
        layer = small_layer(learner)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            layer.forward(1e4 * tokens, causal=True, padding_mask=np.array([[False, True]]))  # token 0 may see nothing
        assert_equal([str(each.message) for each in caught], [], name="warnings")


def run_backward(learner, tokens, grad_output):
    """Return the small layer after one forward and one backward pass."""
    layer = small_layer(learner)
    layer.forward(tokens)
    layer.backward(grad_output)
    return layer


@pytest.mark.criterion("gradient-output-weights")
class TestGradientOutputWeights:
    def test_two_tokens(self, learner, tokens, grad_output):
        layer = run_backward(learner, tokens, grad_output)
        expected = [[3.0, 1.0, 1.0, 6.0], [1.0, 3.0, 3.0, 2.0], [3.0, 2.0, 2.0, 6.0], [4.0, 4.0, 4.0, 8.0]]
        assert_gradient(layer.gradient_output_weights, expected, name="gradient_output_weights")

    @pytest.mark.refusals
    def test_backward_needs_a_forward(self, learner, grad_output):
        layer = small_layer(learner)
        with pytest.raises(RuntimeError) as caught:
            layer.backward(grad_output)
        if isinstance(caught.value, NotImplementedError):  # a RuntimeError too, but the stub's
            raise caught.value


@pytest.mark.criterion("gradient-attention-output")
class TestGradientAttentionOutput:
    def test_two_tokens(self, learner, tokens, grad_output):
        layer = run_backward(learner, tokens, grad_output)
        expected = [[[[1.0, 2.0], [0.0, 0.0]], [[0.0, 0.0], [2.0, 1.0]]]]
        assert_gradient(layer.gradient_attention_output, expected, name="gradient_attention_output")


@pytest.mark.criterion("gradient-attention-weights")
class TestGradientAttentionWeights:
    def test_two_tokens(self, learner, tokens, grad_output):
        layer = run_backward(learner, tokens, grad_output)
        expected = [[[[4.0, 8.0], [0.0, 0.0]], [[0.0, 0.0], [12.0, 4.0]]]]
        assert_gradient(layer.gradient_attention_weights, expected, name="gradient_attention_weights")


@pytest.mark.criterion("gradient-value")
class TestGradientValue:
    def test_two_tokens(self, learner, tokens, grad_output):
        layer = run_backward(learner, tokens, grad_output)
        expected = [[[[0.75, 1.5], [0.25, 0.5]], [[1.0, 0.5], [1.0, 0.5]]]]
        assert_gradient(layer.gradient_value, expected, name="gradient_value")


@pytest.mark.criterion("gradient-attention-scores")
class TestGradientAttentionScores:
    def test_two_tokens(self, learner, tokens, grad_output):
        layer = run_backward(learner, tokens, grad_output)
        expected = np.array([[[[-0.75, 0.75], [0.0, 0.0]], [[0.0, 0.0], [2.0, -2.0]]]])
        gradient = layer.gradient_attention_scores
        before_scale = expected / math.sqrt(2.0)
        assert_gradient(gradient, either(gradient, expected, before_scale), name="gradient_attention_scores")


@pytest.mark.criterion("gradient-key")
class TestGradientKey:
    def test_two_tokens(self, learner, tokens, grad_output):
        layer = run_backward(learner, tokens, grad_output)
        keys = np.array([[[[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [0.0, 1.0]]]])
        scale = own_scale(layer.keys_multihead, keys, "keys_multihead")
        expected = LOG3 * np.array([[[[-0.75, 0.0], [0.75, 0.0]], [[0.0, 2.0], [0.0, -2.0]]]])
        assert_gradient(layer.gradient_key, expected / scale, name="gradient_key")


@pytest.mark.criterion("gradient-query")
class TestGradientQuery:
    def test_two_tokens(self, learner, tokens, grad_output):
        layer = run_backward(learner, tokens, grad_output)
        queries = math.sqrt(2.0) * LOG3 * np.array([[[[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [0.0, 1.0]]]])
        scale = own_scale(layer.queries_multihead, queries, "queries_multihead")
        expected = np.array([[[[-0.75, 0.75], [0.0, 0.0]], [[0.0, 0.0], [2.0, 0.0]]]]) / math.sqrt(2.0)
        assert_gradient(layer.gradient_query, expected / scale, name="gradient_query")


@pytest.mark.criterion("gradient-projection-weights")
class TestGradientProjectionWeights:
    def test_value_weights(self, learner, tokens, grad_output):
        layer = run_backward(learner, tokens, grad_output)
        expected = [[0.75, 1.5, 1.0, 0.5], [0.25, 0.5, 1.0, 0.5], [0.75, 1.5, 1.0, 0.5], [1.0, 2.0, 2.0, 1.0]]
        assert_gradient(layer.gradient_value_weights, expected, name="gradient_value_weights")

    def test_key_weights(self, learner, tokens, grad_output):
        layer = run_backward(learner, tokens, grad_output)
        expected = LOG3 * np.array([[-0.75, 0.0, 0.0, 2.0], [0.75, 0.0, 0.0, -2.0], [-0.75, 0.0, 0.0, 2.0], [0.0] * 4])
        assert_gradient(layer.gradient_key_weights, expected, name="gradient_key_weights")

    def test_query_weights(self, learner, tokens, grad_output):
        layer = run_backward(learner, tokens, grad_output)
        rows = [[-0.75, 0.75, 0.0, 0.0], [0.0, 0.0, 2.0, 0.0], [-0.75, 0.75, 0.0, 0.0], [-0.75, 0.75, 2.0, 0.0]]
        assert_gradient(layer.gradient_query_weights, np.array(rows) / math.sqrt(2.0), name="gradient_query_weights")


INPUT_GRADIENTS = {  # of the two tokens, each along its own path
    "gradient_query_input": LOG3 * np.array([[[-0.75, 0.75, 0.0, 0.0], [0.0, 0.0, 2.0, 0.0]]]),
    "gradient_key_input": LOG3 * np.array([[[-0.75, 0.0, 0.0, 2.0], [0.75, 0.0, 0.0, -2.0]]]),
    "gradient_value_input": np.array([[[3.0, 6.0, 4.0, 2.0], [1.0, 2.0, 4.0, 2.0]]]),
}


@pytest.mark.criterion("input-gradients")
class TestInputGradients:
    def test_backward_returns_three(self, learner, tokens, grad_output):
        layer = small_layer(learner)
        layer.forward(tokens, tokens.copy(), tokens.copy())
        returned = layer.backward(grad_output)
        assert_equal(isinstance(returned, (tuple, list)) and len(returned), 3, name="number of gradients returned")
        for gradient, (name, expected) in zip(returned, INPUT_GRADIENTS.items(), strict=True):
            assert_gradient(gradient, expected, name=name.replace("gradient", "grad"))

    @pytest.mark.parametrize("name", list(INPUT_GRADIENTS))
    def test_they_can_be_read_as_well(self, learner, tokens, grad_output, name):
        layer = small_layer(learner)
        layer.forward(tokens, tokens.copy(), tokens.copy())
        layer.backward(grad_output)
        assert_gradient(getattr(layer, name), INPUT_GRADIENTS[name], name=name)


@pytest.mark.criterion("self-attention-gradient")
class TestSelfAttentionGradient:
    def test_the_three_add_up(self, learner, tokens, grad_output):
        layer = small_layer(learner)
        layer.forward(tokens)
        returned = layer.backward(grad_output)
        assert_equal(isinstance(returned, (tuple, list)) and len(returned), 3, name="number of gradients returned")
        total = sum(np.asarray(gradient) for gradient in returned)
        assert_gradient(total, sum(INPUT_GRADIENTS.values()), name="sum of the three gradients")


@pytest.mark.criterion("update")
class TestUpdate:
    def test_every_weight_moves_against_its_gradient(self, learner, tokens, grad_output):
        layer = run_backward(learner, tokens, grad_output)
        assert_equal(layer.update(0.5), None, name="what update returns")
        for name, place, expected in (
            ("query_weights", (3, 2), -math.sqrt(0.5)),
            ("key_weights", (0, 3), -LOG3),
            ("value_weights", (3, 3), 3.5),
            ("output_weights", (3, 3), -4.0),
        ):
            weights = getattr(layer, name)
            assert_shape(weights, (4, 4), name=name)
            assert_array(weights[place], expected, name=f"{name}{list(place)}")

    @pytest.mark.refusals
    def test_update_needs_a_backward(self, learner, tokens):
        layer = small_layer(learner)
        layer.forward(tokens)
        with pytest.raises(RuntimeError) as caught:
            layer.update(0.1)
        if isinstance(caught.value, NotImplementedError):
            raise caught.value
