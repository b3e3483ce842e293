"""Public tests of stage s22: small examples with the numbers written out."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_gradient, numerical_gradient, peak_memory, unchanged, plain_array

pytestmark = pytest.mark.values

DIGITS = 1e-6  # relative tolerance of numbers written out to seven places
LN3 = np.log(3.0)


def parts(result, *names):
    """Return the parts of a tuple that has one for each name."""
    assert isinstance(result, (tuple, list)) and len(result) == len(names), f"expected a tuple of {', '.join(names)}"
    return result


@pytest.fixture
def example():
    """The example of the README: two queries, four keys, d = 1; the powers are 3, 1, 9, 3 and their squares."""
    Q = np.array([[1.0], [2.0]])
    K = np.log([[3.0], [1.0], [9.0], [3.0]])
    V = np.array([[4.0], [20.0], [0.0], [8.0]])
    return Q, K, V


@pytest.fixture
def results():
    """What attention makes of the example: output and log_sum_exp."""
    return np.array([[3.5], [1.28]]), np.log([16.0, 100.0])


@pytest.fixture
def grad_output():
    """A gradient for the output of the example."""
    return np.array([[1.0], [2.0]])


@pytest.mark.criterion("online-softmax")
class TestOnlineSoftmax:
    @pytest.mark.parametrize("block_size", [1, 2, 3, 4, 100])
    def test_block_by_block(self, learner, block_size):
        scores = np.log([[2.0, 1.0, 4.0, 1.0], [1.0, 1.0, 1.0, 5.0]])
        weights, maximum, total = parts(learner.online_softmax(scores, block_size), "weights", "maximum", "total")
        assert_array(maximum, np.log([4.0, 5.0]), name="maximum")
        assert_array(total, [2.0, 1.6], name="total")
        assert_array(weights, [[0.25, 0.125, 0.5, 0.125], [0.125, 0.125, 0.125, 0.625]], name="weights")

    @pytest.mark.edges
    def test_scores_of_any_size(self, learner):
        weights, maximum, total = learner.online_softmax(np.array([-1000.0, 0.0, 1000.0, 1000.0]), 1)
        assert_array(weights, [0.0, 0.0, 0.5, 0.5], name="weights")
        assert_array(maximum, 1000.0, name="maximum")
        assert_array(total, 2.0, name="total")

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner):
        for value in learner.online_softmax(np.zeros((2, 3), dtype=np.float32), 2):
            assert plain_array(value).dtype == np.float32

    @pytest.mark.purity
    def test_scores_stay_as_they_are(self, learner):
        scores = np.arange(6.0).reshape(2, 3)
        with unchanged(scores):
            learner.online_softmax(scores, 2)

    @pytest.mark.refusals
    @pytest.mark.parametrize("block_size", [0, -2, 1.5])
    def test_block_sizes_that_are_none(self, learner, block_size):
        with pytest.raises(ValueError):
            learner.online_softmax(np.zeros((2, 3)), block_size)


@pytest.mark.criterion("online-softmax-masked")
def test_blocks_of_minus_infinity(learner):
    inf = np.inf
    scores = np.array([[-inf, -inf, 0.0, LN3], [0.0, LN3, -inf, -inf], [-inf, -inf, -inf, -inf]])
    weights, maximum, total = learner.online_softmax(scores, 2)
    assert_array(weights, [[0.0, 0.0, 0.25, 0.75], [0.25, 0.75, 0.0, 0.0], [0.0] * 4], name="weights")
    assert_array(maximum, [LN3, LN3, -inf], name="maximum")
    assert_array(total, [4 / 3, 4 / 3, 0.0], name="total")


@pytest.mark.criterion("tiled-attention")
class TestTiledAttention:
    @pytest.mark.parametrize("block_size", [1, 2, 3, 4, 7])
    def test_the_readmes_example(self, learner, example, results, block_size):
        output, log_sum_exp = parts(learner.tiled_attention(*example, block_size), "output", "log_sum_exp")
        assert_array(output, results[0], name="output")
        assert_array(log_sum_exp, results[1], name="log_sum_exp")

    def test_scores_are_divided_by_the_root_of_d(self, learner):
        Q, K = np.array([[2.0, 0.0, 0.0, 1.0]]), np.array([[LN3, 5.0, -5.0, 0.0], [0.0, 1.0, 1.0, 0.0]])
        output, log_sum_exp = learner.tiled_attention(Q, K, np.array([[4.0, 0.0], [8.0, 1.0]]), 1)
        assert_array(output, [[5.0, 0.25]], name="output")
        assert_array(log_sum_exp, np.log([4.0]), name="log_sum_exp")

    @pytest.mark.edges
    def test_scores_of_any_size(self, learner):
        Q, K = np.array([[30.0]]), np.array([[-40.0], [40.0], [-40.0]])
        output, log_sum_exp = learner.tiled_attention(Q, K, np.array([[1.0], [2.0], [3.0]]), 1)
        assert_array(output, [[2.0]], name="output")
        assert_array(log_sum_exp, [1200.0], name="log_sum_exp")

    @pytest.mark.refusals
    def test_shapes_that_do_not_fit(self, learner):
        for Q, K, V in [((3, 2), (4, 3), (4, 2)), ((3, 2), (4, 2), (5, 2)), ((2, 3, 2), (4, 2), (4, 2))]:
            with pytest.raises(ValueError):
                learner.tiled_attention(np.ones(Q), np.ones(K), np.ones(V), 2)


@pytest.mark.criterion("tiled-masks")
class TestTiledMasks:
    @pytest.mark.parametrize("block_size", [1, 2, 3, 8])
    def test_causal(self, learner, block_size):
        V = np.array([[1.0], [3.0], [8.0], [20.0], [3.0]])
        output, log_sum_exp = learner.tiled_attention(np.zeros((5, 1)), np.zeros((5, 1)), V, block_size, causal=True)
        assert_array(output, [[1.0], [2.0], [4.0], [8.0], [7.0]], name="output")
        assert_array(log_sum_exp, np.log([1.0, 2.0, 3.0, 4.0, 5.0]), name="log_sum_exp")

    def test_masked_keys(self, learner, example):
        output, log_sum_exp = learner.tiled_attention(*example, 2, key_mask=np.array([True, True, False, False]))
        assert_array(output, [[8.0], [5.6]], name="output")
        assert_array(log_sum_exp, np.log([4.0, 10.0]), name="log_sum_exp")

    def test_a_query_without_keys(self, learner):
        V = np.array([[1.0], [2.0], [4.0]])
        output, log_sum_exp = learner.tiled_attention(
            np.zeros((3, 1)), np.zeros((3, 1)), V, 2, causal=True, key_mask=np.array([0, 1, 1])
        )
        assert_array(output, [[0.0], [2.0], [3.0]], name="output")
        assert_array(log_sum_exp, [-np.inf, 0.0, np.log(2.0)], name="log_sum_exp")


@pytest.mark.criterion("tiled-gradients")
class TestTiledGradients:
    @pytest.mark.parametrize("block_size", [1, 3, 4])
    def test_the_readmes_example(self, learner, example, results, grad_output, block_size):
        found = learner.tiled_attention_backward(grad_output, *example, *results, block_size)
        grad_Q, grad_K, grad_V = parts(found, "grad_Q", "grad_K", "grad_V")
        assert_array(grad_Q, [[-3 * LN3], [-2.448 * LN3]], name="grad_Q")
        assert_array(grad_K, [[1.07295], [1.78005], [-6.11595], [3.26295]], name="grad_K")
        assert_array(grad_V, [[0.3675], [0.0825], [2.1825], [0.3675]], name="grad_V")

    def test_finite_differences_with_masks(self, learner, rng):
        Q, K, V, grad = (rng.normal(size=(4, 2)) for _ in range(4))
        mask = np.array([False, True, True, False])
        allowed = np.tril(np.ones((4, 4))) * mask

        def output(Q, K, V):
            powers = np.exp(Q @ K.T / np.sqrt(2)) * allowed
            totals = powers.sum(axis=1)
            return powers @ V / np.where(totals == 0, 1, totals)[:, None], totals

        out, totals = output(Q, K, V)
        with np.errstate(divide="ignore"):
            found = learner.tiled_attention_backward(grad, Q, K, V, out, np.log(totals), 3, causal=True, key_mask=mask)
        ways = [
            lambda x: (output(x, K, V)[0] * grad).sum(),
            lambda x: (output(Q, x, V)[0] * grad).sum(),
            lambda x: (output(Q, K, x)[0] * grad).sum(),
        ]
        for name, value, way, actual in zip(("grad_Q", "grad_K", "grad_V"), (Q, K, V), ways, found, strict=True):
            assert_gradient(actual, numerical_gradient(way, value), name=name)

    @pytest.mark.purity
    def test_arguments_stay_as_they_are(self, learner, example, results, grad_output):
        (Q, K, V), (output, log_sum_exp) = example, results
        with unchanged(grad_output, Q, K, V, output, log_sum_exp):
            learner.tiled_attention_backward(grad_output, Q, K, V, output, log_sum_exp, 2)

    @pytest.mark.refusals
    def test_gradients_of_another_shape(self, learner, example, results):
        for shape in [(2, 2), (1, 2), (2,), (1, 2, 1)]:
            with pytest.raises(ValueError):
                learner.tiled_attention_backward(np.ones(shape), *example, *results, 2)


@pytest.mark.criterion("tiled-memory")
class TestTiledMemory:
    """2048 queries and keys, or 256 and 16,384: an entry for each pair takes 32 MB, and 4 MB as a boolean."""

    def test_a_long_sequence_of_equal_scores(self, learner):
        V = np.arange(500.0)[:, None]
        output, _ = learner.tiled_attention(np.zeros((500, 1)), np.zeros((500, 1)), V, 32, causal=True)
        assert_array(output, V / 2, name="output", terms=500)

    @pytest.mark.memory
    def test_forward_holds_tiles_only(self, learner):
        Q = K = V = np.zeros((2048, 1))
        _, peak = peak_memory(learner.tiled_attention, Q, K, V, 24, causal=True)
        assert peak <= 3.5e6, f"the forward pass held {peak / 1e6:.1f} MB at once, at most 3.5 MB are expected"

    @pytest.mark.memory
    def test_backward_holds_tiles_only(self, learner):
        Q, K = np.zeros((256, 1)), np.zeros((16384, 1))
        log_sum_exp = np.full(256, np.log(16384.0))
        _, peak = peak_memory(learner.tiled_attention_backward, Q, Q, K, K, Q, log_sum_exp, 64)
        assert peak <= 3.5e6, f"the backward pass held {peak / 1e6:.1f} MB at once, at most 3.5 MB are expected"


@pytest.mark.criterion("sliding-window")
class TestSlidingWindow:
    def test_left_and_right(self, learner):
        V = np.array([[1.0], [3.0], [5.0], [9.0], [2.0]])
        Q = K = np.zeros((5, 1))
        assert_array(learner.sliding_window_attention(Q, K, V, 1), [[1.0], [2.0], [4.0], [7.0], [5.5]])
        assert_array(learner.sliding_window_attention(Q, K, V, 0, 1), [[2.0], [4.0], [7.0], [5.5], [2.0]])
        assert_array(learner.sliding_window_attention(Q, K, V, 1, 1), [[2.0], [3.0], [17 / 3], [16 / 3], [5.5]])
        assert_array(learner.sliding_window_attention(Q, K, V, 0), V)
        assert_array(learner.sliding_window_attention(Q, K, V, 9, 9), np.full((5, 1), 4.0))

    def test_scores_count(self, learner):
        Q, K = np.array([[1.0, 1.0, 1.0, 1.0]] * 3), LN3 * np.array([[2.0, 0, 0, 0], [0.0] * 4, [2.0, 2.0, 0, 0]])
        output = learner.sliding_window_attention(Q, K, np.array([[4.0], [8.0], [28.0]]), left=1, right=0)
        assert_array(output, [[4.0], [5.0], [26.0]])

    @pytest.mark.edges
    def test_a_window_without_keys(self, learner):
        output = learner.sliding_window_attention(np.zeros((4, 1)), np.zeros((2, 1)), np.array([[2.0], [4.0]]), 1)
        assert_array(output, [[2.0], [3.0], [4.0], [0.0]])

    @pytest.mark.memory
    def test_a_long_sequence_holds_windows_only(self, learner):
        Q = K = V = np.zeros((2048, 1))
        _, peak = peak_memory(learner.sliding_window_attention, Q, K, V, 3)
        assert peak <= 3.5e6, f"the call held {peak / 1e6:.1f} MB at once, at most 3.5 MB are expected"

    @pytest.mark.refusals
    @pytest.mark.parametrize("left, right", [(-1, 0), (0, -1), (0.5, 0)])
    def test_windows_that_are_none(self, learner, left, right):
        with pytest.raises(ValueError):
            learner.sliding_window_attention(np.zeros((3, 1)), np.zeros((3, 1)), np.zeros((3, 1)), left, right)


@pytest.mark.criterion("grouped-query")
class TestGroupedQuery:
    def test_neighbours_share(self, learner):
        V = np.array([[[1.0], [3.0]], [[10.0], [30.0]]])
        output = learner.grouped_query_attention(np.zeros((4, 1, 1)), np.zeros((2, 2, 1)), V)
        assert_array(output, [[[2.0]], [[2.0]], [[20.0]], [[20.0]]])

    def test_one_head_of_keys_serves_all(self, learner):
        Q = np.array([[[[0.0, 0.0, 0.0, 0.0]], [[2.0, 0.0, 0.0, 0.0]], [[0.0, 0.0, 2.0, 0.0]]]])
        K = LN3 * np.array([[[[0.0, 1.0, 2.0, 0.0], [1.0, 1.0, 0.0, 0.0]]]])
        output = learner.grouped_query_attention(Q, K, np.array([[[[0.0], [20.0]]]]))
        assert_array(output, [[[[10.0]], [[15.0]], [[2.0]]]])

    def test_masks(self, learner):
        Q, K, V = np.zeros((2, 3, 1)), np.zeros((1, 3, 1)), np.array([[[2.0], [4.0], [9.0]]])
        causal = learner.grouped_query_attention(Q, K, V, causal=True)
        assert_array(causal, [[[2.0], [3.0], [5.0]]] * 2)
        mask = np.array([[[0, 1, 1]], [[1, 1, 0]]])
        both = learner.grouped_query_attention(Q, K, V, causal=True, mask=mask)
        assert_array(both, [[[0.0], [4.0], [6.5]], [[2.0], [3.0], [3.0]]])

    @pytest.mark.refusals
    def test_heads_that_do_not_divide(self, learner):
        with pytest.raises(ValueError):
            learner.grouped_query_attention(np.zeros((4, 2, 2)), np.zeros((3, 2, 2)), np.zeros((3, 2, 2)))


@pytest.mark.criterion("rotary")
class TestRotary:
    def test_each_position_turns_further(self, learner):
        turned = learner.rotary_embedding(np.array([[1.0, 0.0]] * 3))
        assert_array(turned, [[1.0, 0.0], [0.5403023, 0.8414710], [-0.4161468, 0.9092974]], rtol=DIGITS)

    def test_later_pairs_turn_more_slowly(self, learner):
        turned = learner.rotary_embedding(np.array([[1.0, 0.0, 1.0, 0.0]]), positions=np.array([100]))
        assert_array(turned, [[0.8623189, -0.5063656, 0.5403023, 0.8414710]], rtol=DIGITS)
        turned = learner.rotary_embedding(np.array([[0.0, 1.0, 0.0, 1.0]]), np.array([3]), base=9.0)
        assert_array(turned, [[-0.1411200, -0.9899925, -0.8414710, 0.5403023]], rtol=DIGITS)

    def test_only_the_distance_of_two_positions_counts(self, learner):
        x = np.array([[1.0, 2.0, -1.0, 0.5], [0.5, 1.0, 3.0, -2.0]])
        near, far = (learner.rotary_embedding(x, np.array(places)) for places in ([0, 3], [50, 53]))
        assert_array(
            plain_array(far[0]) @ plain_array(far[1]),
            plain_array(near[0]) @ plain_array(near[1]),
            rtol=1e-8,
            name="dot product",
        )

    @pytest.mark.refusals
    def test_an_odd_number_of_features(self, learner):
        with pytest.raises(ValueError):
            learner.rotary_embedding(np.ones((2, 3)))


@pytest.mark.criterion("rotary-halves")
def test_halves_are_turned_alike(learner):
    turned = learner.rotary_embedding(np.array([[1.0, 1.0, 0.0, 0.0]]), np.array([100]), interleaved=False)
    assert_array(turned, [[0.8623189, 0.5403023, -0.5063656, 0.8414710]], rtol=DIGITS)


@pytest.mark.criterion("alibi-slopes")
class TestAlibiSlopes:
    def test_powers_of_two(self, learner):
        assert_array(learner.alibi_slopes(8), 1 / np.array([2.0, 4, 8, 16, 32, 64, 128, 256]))
        assert_array(learner.alibi_slopes(2), [1 / 16, 1 / 256])

    def test_other_numbers(self, learner):
        assert_array(learner.alibi_slopes(3), [1 / 16, 1 / 256, 1 / 4])
        assert_array(learner.alibi_slopes(6), [1 / 4, 1 / 16, 1 / 64, 1 / 256, 1 / 2, 1 / 8])

    @pytest.mark.refusals
    @pytest.mark.parametrize("num_heads", [0, -4, 2.5])
    def test_numbers_that_are_none(self, learner, num_heads):
        with pytest.raises(ValueError):
            learner.alibi_slopes(num_heads)


@pytest.mark.criterion("alibi-bias")
class TestAlibiBias:
    def test_causal(self, learner):
        inf = np.inf
        slow = [[0, -inf, -inf], [-1 / 256, 0, -inf], [-2 / 256, -1 / 256, 0]]
        fast = [[0, -inf, -inf], [-1 / 16, 0, -inf], [-2 / 16, -1 / 16, 0]]
        assert_array(learner.alibi_bias(2, 3), [fast, slow])

    def test_both_sides(self, learner):
        assert_array(learner.alibi_bias(8, 3, causal=False)[1], [[0, -0.25, -0.5], [-0.25, 0, -0.25], [-0.5, -0.25, 0]])


@pytest.mark.criterion("rms-norm")
class TestRmsNorm:
    def test_root_mean_square_becomes_one(self, learner):
        x = np.array([[1.0, 7.0], [7.0, 1.0], [-10.0, 70.0]])
        assert_array(learner.rms_norm(x, np.ones(2)), [[0.2, 1.4], [1.4, 0.2], [-0.2, 1.4]], rtol=1e-5)
        assert_array(learner.rms_norm(x, np.array([5.0, -1.0]))[0], [1.0, -1.4], rtol=1e-5)

    @pytest.mark.edges
    def test_a_vector_of_zeros(self, learner):
        assert_array(learner.rms_norm(np.zeros((2, 3)), np.ones(3)), np.zeros((2, 3)))

    @pytest.mark.refusals
    def test_a_gamma_of_another_size(self, learner):
        for shape in [(3,), (1,), (2, 2)]:
            with pytest.raises(ValueError):
                learner.rms_norm(np.ones((3, 2)), np.ones(shape))


@pytest.mark.criterion("rms-norm-gradients")
class TestRmsNormGradients:
    def test_a_vector(self, learner):
        found = learner.rms_norm_backward(np.array([1.0, 0.0]), np.array([1.0, 7.0]), np.array([2.0, 3.0]))
        grad_x, grad_gamma = parts(found, "grad_x", "grad_gamma")
        assert_array(grad_x, [0.392, -0.056], rtol=1e-5, name="grad_x")
        assert_array(grad_gamma, [0.2, 0.0], rtol=1e-5, name="grad_gamma")

    @pytest.mark.refusals
    def test_a_gradient_of_another_shape(self, learner):
        with pytest.raises(ValueError):
            learner.rms_norm_backward(np.ones(2), np.ones((3, 2)), np.ones(2))


@pytest.mark.criterion("linear-attention")
class TestLinearAttention:
    def test_sums_come_first(self, learner):
        Q, K = np.array([[0.0, 0.0], [2.0, -np.log(2.0)]]), np.array([[0.0, 1.0], [3.0, 0.0]])
        V = np.array([[1.0, 0.0], [0.0, 1.0]])
        assert_array(learner.linear_attention(Q, K, V), [[3 / 8, 5 / 8], [4 / 16.5, 12.5 / 16.5]], rtol=1e-5)

    @pytest.mark.edges
    def test_large_features(self, learner):
        Q, K, V = np.array([[1000.0, -1000.0]]), np.array([[999.0, 0.0], [0.0, 5.0]]), np.array([[1.0], [2.0]])
        assert_array(learner.linear_attention(Q, K, V), [[1002 / 1001]], rtol=1e-5)

    @pytest.mark.refusals
    def test_shapes_that_do_not_fit(self, learner):
        with pytest.raises(ValueError):
            learner.linear_attention(np.ones((3, 2)), np.ones((4, 3)), np.ones((4, 2)))


@pytest.mark.criterion("linear-attention-causal")
class TestLinearAttentionCausal:
    def test_a_query_sees_its_own_key_and_earlier_ones(self, learner):
        K, V = np.array([[0.0], [2.0], [3.0]]), np.array([[4.0], [8.0], [12.0]])
        assert_array(learner.linear_attention(K, K, V, causal=True), [[4.0], [7.0], [9.5]], rtol=1e-5)

    @pytest.mark.memory
    def test_a_long_sequence_holds_no_pairs(self, learner):
        Q = K = V = np.zeros((2048, 1))
        _, peak = peak_memory(learner.linear_attention, Q, K, V, causal=True)
        assert peak <= 3.5e6, f"the call held {peak / 1e6:.1f} MB at once, at most 3.5 MB are expected"

    @pytest.mark.refusals
    def test_as_many_queries_as_keys(self, learner):
        with pytest.raises(ValueError):
            learner.linear_attention(np.ones((3, 2)), np.ones((4, 2)), np.ones((4, 2)), causal=True)
