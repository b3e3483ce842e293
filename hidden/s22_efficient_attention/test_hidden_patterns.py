"""Hidden tests of stage s22: windows, shared heads and linear attention, against whole arrays of scores."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_shape, plain_array, unchanged
from hidden.s22_efficient_attention import oracles

pytestmark = pytest.mark.values

# torch 2.13.0, scaled_dot_product_attention in float64 with is_causal and enable_gqa, of sin and cos of small numbers
GROUPED = [
    [[0.0], [0.21599721796656463], [0.2912967370310947]],
    [[0.0], [0.16161596224871633], [0.3073224156074603]],
    [[0.4121184852417566], [0.28855049732027416], [-0.14055620509189998]],
    [[0.4121184852417566], [0.30388027675962415], [-0.10970453919176423]],
]


@pytest.mark.criterion("sliding-window")
class TestSlidingWindow:
    @pytest.mark.parametrize("left, right", [(0, 0), (1, 0), (0, 2), (2, 1), (3, 3), (4, 0), (50, 0), (0, 50)])
    def test_windows_of_all_sizes(self, learner, rng, left, right):
        for leading in ((), (2, 3)):
            Q, K, V = oracles.draw(rng, leading, 9, 9, 3, 2)
            result = learner.sliding_window_attention(Q, K, V, left, right)
            assert_array(result, oracles.window(Q, K, V, left, right), terms=40)

    def test_right_is_zero_by_default(self, learner, rng):
        Q, K, V = oracles.draw(rng, (2,), 8, 8, 3, 4)
        assert_array(learner.sliding_window_attention(Q, K, V, 2), oracles.window(Q, K, V, 2, 0), terms=40)

    @pytest.mark.edges
    @pytest.mark.parametrize("seq_q, seq_k", [(5, 9), (9, 5), (9, 2), (1, 6), (6, 1)])
    @pytest.mark.parametrize("left, right", [(2, 0), (1, 2), (0, 0)])
    def test_other_numbers_of_keys(self, learner, rng, seq_q, seq_k, left, right):
        Q, K, V = oracles.draw(rng, (), seq_q, seq_k, 3, 2)
        result = learner.sliding_window_attention(Q, K, V, left, right)
        assert_array(result, oracles.window(Q, K, V, left, right), terms=40)

    @pytest.mark.edges
    def test_scores_that_no_exponential_holds(self, learner, rng):
        K, V = np.arange(6.0)[:, None] * 500, rng.normal(size=(6, 2))
        result = learner.sliding_window_attention(np.ones((6, 1)), K, V, 2, 1)
        assert_array(result, V[[1, 2, 3, 4, 5, 5]])

    @pytest.mark.edges
    def test_scores_below_every_number_that_stands_for_minus_infinity(self, learner, rng):
        (Q, K), V = oracles.draw_far_below(rng, 6, 4), rng.normal(size=(4, 2))
        expected = np.zeros((6, 2))
        for i in range(5):
            near = range(max(0, i - 1), min(4, i + 2))
            expected[i] = V[max(near, key=lambda j: K[j, 0])]
        assert_array(learner.sliding_window_attention(Q, K, V, 1, 1), expected)

    @pytest.mark.edges
    @pytest.mark.parametrize("left, right", [(0, 0), (2, 0), (0, 2), (2, 1)])
    def test_no_keys_at_all(self, learner, rng, left, right):
        for leading, queries in (((), 4), ((2,), 3), ((), 0)):
            result = learner.sliding_window_attention(*oracles.draw(rng, leading, queries, 0, 3, 2), left, right)
            assert_array(result, np.zeros((*leading, queries, 2)))

    @pytest.mark.memory
    def test_a_long_sequence_holds_windows_only(self, learner, rng):
        Q, K, V = oracles.draw(rng, (), oracles.LONGER, oracles.LONGER, 4, 2)
        what = f"sliding_window_attention of {oracles.LONGER} positions, left=7"
        result = oracles.held(learner.sliding_window_attention, Q, K, V, 7, what=what)
        rows = oracles.some_rows(rng, oracles.LONGER, 0, 3, 7, 8, 5000)
        expected = np.stack([oracles.window(Q[r : r + 1], K[: r + 1][-8:], V[: r + 1][-8:], 0, 8)[0] for r in rows])
        oracles.assert_rows(result, expected, rows, (oracles.LONGER, 2), name="result")

    @pytest.mark.dtype
    def test_integers_are_numbers_too(self, learner, rng):
        Q, K, V = (rng.integers(-3, 4, size=shape) for shape in ((7, 3), (7, 3), (7, 2)))
        assert_array(learner.sliding_window_attention(Q, K, V, 2, 1), oracles.window(Q, K, V, 2, 1), terms=40)

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        Q, K, V = oracles.draw(rng, (2,), 7, 7, 3, 2)
        result = learner.sliding_window_attention(*(x.astype(np.float32) for x in (Q, K, V)), 2, 1)
        assert_array(result, oracles.window(Q, K, V, 2, 1).astype(np.float32), dtype=np.float32)

    @pytest.mark.purity
    def test_arguments_stay_as_they_are(self, learner, rng):
        Q, K, V = oracles.draw(rng, (), 7, 7, 3, 2)
        with unchanged(Q, K, V):
            learner.sliding_window_attention(Q, K, V, 2, 1)

    @pytest.mark.refusals
    def test_windows_and_shapes_that_do_not_fit(self, learner, rng):
        Q, K, V = oracles.draw(rng, (), 7, 7, 3, 2)
        for left, right in [(-1, 3), (3, -1), (1.0, 0), (1, 0.0)]:
            with pytest.raises(ValueError):
                learner.sliding_window_attention(Q, K, V, left, right)
        others = [(Q[:, :2], K, V), (Q, K, V[:6]), (Q, K[None], V[None]), (Q, K[:, :1], V), (Q, K[0], V)]
        for other in [*others, (Q[:, :0], K[:, :0], V)]:
            with pytest.raises(ValueError):
                learner.sliding_window_attention(*other, 2, 1)


def draw_heads(rng, leading, heads, shared, seq_q, seq_k):
    """Return Q, K and V of so many heads."""
    Q, K, V = oracles.draw(rng, leading, seq_q, seq_k, 3, 2)
    return tuple(
        rng.normal(size=(*leading, number, *x.shape[-2:])) for number, x in ((heads, Q), (shared, K), (shared, V))
    )


@pytest.mark.criterion("grouped-query")
class TestGroupedQuery:
    @pytest.mark.parametrize("heads, shared", [(4, 2), (6, 3), (6, 2), (4, 4), (5, 1)])
    def test_groups_of_all_sizes(self, learner, rng, heads, shared):
        for leading in ((), (2,), (2, 3)):
            Q, K, V = draw_heads(rng, leading, heads, shared, 5, 7)
            assert_array(learner.grouped_query_attention(Q, K, V), oracles.grouped(Q, K, V), terms=40)

    def test_another_framework(self, learner):
        Q, K = np.sin(np.arange(24.0)).reshape(4, 3, 2), np.cos(np.arange(12.0)).reshape(2, 3, 2)
        V = np.sin(np.arange(6.0) ** 2).reshape(2, 3, 1)
        assert_array(learner.grouped_query_attention(Q, K, V, causal=True), GROUPED, atol=1e-9)

    @pytest.mark.parametrize("seq_q, seq_k", [(5, 5), (4, 7), (7, 4)])
    def test_causal_is_the_lower_triangle(self, learner, rng, seq_q, seq_k):
        Q, K, V = draw_heads(rng, (2,), 4, 2, seq_q, seq_k)
        expected = oracles.grouped(Q, K, V, oracles.allowed_pairs(seq_q, seq_k, True))
        assert_array(learner.grouped_query_attention(Q, K, V, causal=True), expected, terms=40)

    def test_masks_of_every_head(self, learner, rng):
        Q, K, V = draw_heads(rng, (2,), 4, 2, 5, 6)
        for shape in ((5, 6), (4, 5, 6), (2, 1, 1, 6), (2, 4, 5, 6), (2, 4, 1, 6)):
            mask = oracles.draw_key_mask(rng, shape)
            for given in (mask, mask.astype(int)):
                result = learner.grouped_query_attention(Q, K, V, mask=given)
                assert_array(result, oracles.grouped(Q, K, V, mask.astype(float)), terms=40)
            both = mask * oracles.allowed_pairs(5, 6, True)
            result = learner.grouped_query_attention(Q, K, V, causal=True, mask=mask)
            assert_array(result, oracles.grouped(Q, K, V, both), terms=40)

    @pytest.mark.edges
    def test_queries_without_keys_get_nothing(self, learner, rng):
        Q, K, V = draw_heads(rng, (), 4, 2, 3, 5)
        mask = rng.random((4, 3, 5)) < 0.7
        mask[1, 2] = mask[3, 0] = False
        assert_array(
            learner.grouped_query_attention(Q, K, V, mask=mask), oracles.grouped(Q, K, V, mask.astype(float)), terms=40
        )

    @pytest.mark.edges
    def test_scores_that_no_exponential_holds(self, learner, rng):
        V = rng.normal(size=(1, 3, 2))
        K = np.array([[[-1000.0], [0.0], [1000.0]]])
        result = learner.grouped_query_attention(np.array([[[1.0]], [[-1.0]]]), K, V)
        assert_array(result, np.stack([V[:, 2], V[:, 0]]))

    @pytest.mark.edges
    def test_scores_below_every_number_that_stands_for_minus_infinity(self, learner, rng):
        (Q, K), V, mask = (
            oracles.draw_far_below(rng, 4, 4),
            rng.normal(size=(4, 2)),
            np.array([True, False, True, True]),
        )
        best = [max((j for j in range(i + 1) if mask[j]), key=lambda j: K[j, 0]) for i in range(4)]
        result = learner.grouped_query_attention(np.stack([Q, Q]), K[None], V[None], causal=True, mask=mask)
        assert_array(result, np.stack([V[best], V[best]]))

    @pytest.mark.edges
    @pytest.mark.parametrize("causal", [False, True])
    def test_no_keys_at_all(self, learner, rng, causal):
        for mask in (None, np.ones((4, 3, 0), dtype=bool)):
            Q, K, V = draw_heads(rng, (2,), 4, 2, 3, 0)
            result = learner.grouped_query_attention(Q, K, V, causal, mask)
            assert_array(result, np.zeros((2, 4, 3, 2)))

    @pytest.mark.dtype
    def test_integers_are_numbers_too(self, learner, rng):
        Q, K, V = (rng.integers(-3, 4, size=shape) for shape in ((4, 5, 3), (2, 6, 3), (2, 6, 2)))
        assert_array(learner.grouped_query_attention(Q, K, V), oracles.grouped(Q, K, V), terms=40)

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        Q, K, V = draw_heads(rng, (2,), 4, 2, 5, 5)
        result = learner.grouped_query_attention(*(x.astype(np.float32) for x in (Q, K, V)), causal=True)
        expected = oracles.grouped(Q, K, V, oracles.allowed_pairs(5, 5, True))
        assert_array(result, expected.astype(np.float32), dtype=np.float32)

    @pytest.mark.purity
    def test_arguments_stay_as_they_are(self, learner, rng):
        Q, K, V = draw_heads(rng, (), 4, 2, 5, 5)
        mask = oracles.draw_key_mask(rng, (4, 5, 5))
        with unchanged(Q, K, V, mask):
            learner.grouped_query_attention(Q, K, V, True, mask)

    @pytest.mark.refusals
    def test_heads_masks_and_shapes_that_do_not_fit(self, learner, rng):
        Q, K, V = draw_heads(rng, (2,), 4, 2, 5, 6)
        others = [(Q[:, :3], K, V), (Q[:, :1], K, V), (Q[..., :2], K, V), (Q, K, V[:, :1]), (Q[:1], K, V)]
        for other in [*others, (Q[..., :0], K[..., :0], V)]:
            with pytest.raises(ValueError):
                learner.grouped_query_attention(*other)
        with pytest.raises(ValueError):
            learner.grouped_query_attention(Q[0, 0], K[0, 0], V[0, 0])
        with pytest.raises(ValueError):
            learner.grouped_query_attention(Q[0], K[0, 0], V[0, 0])
        with pytest.raises(ValueError):
            learner.grouped_query_attention(Q, K[:, :0], V[:, :0])
        for shape in ((6, 5), (3, 5, 6), (2, 2, 5, 6)):
            with pytest.raises(ValueError):
                learner.grouped_query_attention(Q, K, V, mask=np.ones(shape, dtype=bool))


def assert_linear(result, Q, K, V, causal):
    """Assert that a result is linear attention, with or without 1e-6 in the divisor."""
    exact, added = (oracles.linear(Q, K, V, causal, eps) for eps in (0.0, 1e-6))
    oracles.assert_either(result, exact, added, terms=100)


def assert_linear_rows(result, Q, K, V, causal, rows):
    """Assert that some rows are those of linear attention, with or without 1e-6 in the divisor."""
    with np.errstate(invalid="ignore"):
        exact, added = (oracles.linear(Q, K, V, causal, eps)[rows] for eps in (0.0, 1e-6))
    oracles.assert_either(result, exact, added, terms=100)


@pytest.mark.criterion("linear-attention")
class TestLinearAttention:
    def test_any_leading_axes_and_lengths(self, learner, rng):
        for leading, seq_q, seq_k in (((), 6, 9), ((2,), 9, 6), ((2, 3), 5, 5), ((), 1, 4)):
            Q, K, V = (2 * x for x in oracles.draw(rng, leading, seq_q, seq_k, 3, 2))
            assert_linear(learner.linear_attention(Q, K, V), Q, K, V, False)

    @pytest.mark.edges
    def test_features_far_from_zero(self, learner, rng):
        Q, K, V = oracles.draw(rng, (), 5, 6, 3, 2)
        Q, K = 500 * Q, 500 * K
        Q[:, 0], K[:, 0] = np.abs(Q[:, 0]), np.abs(K[:, 0])
        assert_linear(learner.linear_attention(Q, K, V), Q, K, V, False)
        Q = K = np.array([[900.0, 0.0, -900.0]] * 3)
        assert_linear(learner.linear_attention(Q, K, V[:3]), Q, K, V[:3], False)

    @pytest.mark.edges
    @pytest.mark.parametrize("dtype, low", [(np.float64, -800.0), (np.float32, -60.0), (np.float32, -200.0)])
    def test_features_that_no_float_holds(self, learner, rng, dtype, low):
        """phi(q) . sum of phi(k) comes out as 0, and so does the output; the quotient of the formula is right, too."""
        (Q, K, V), far = oracles.draw(rng, (2,), 4, 5, 3, 2), low - 3
        given = [x.astype(dtype) for x in (far + np.abs(Q), far + np.abs(K), V)]
        result = learner.linear_attention(*given)
        exact = oracles.linear_far_below(*(x.astype(np.float64) for x in given), False).astype(dtype)
        oracles.assert_either(result, np.zeros_like(exact), exact, rtol=1e-4)

    @pytest.mark.edges
    def test_a_query_whose_features_no_float_holds(self, learner, rng):
        Q, K, V = oracles.draw(rng, (), 5, 5, 3, 2)
        Q[2] = -2000.0
        result = plain_array(learner.linear_attention(Q, K, V))
        others = [0, 1, 3, 4]
        assert_shape(result, (5, 2))
        assert_linear_rows(result[others], Q, K, V, False, others)
        assert_equal(bool(np.isfinite(result[2]).all()), True, name="whether the output of query 2 is finite")

    @pytest.mark.edges
    def test_no_keys_at_all(self, learner, rng):
        for leading, queries in (((), 4), ((2,), 3)):
            result = learner.linear_attention(*oracles.draw(rng, leading, queries, 0, 3, 2))
            assert_array(result, np.zeros((*leading, queries, 2)))

    @pytest.mark.dtype
    def test_integers_are_numbers_too(self, learner, rng):
        Q, K, V = (rng.integers(-3, 4, size=shape) for shape in ((6, 3), (6, 3), (6, 2)))
        assert_linear(learner.linear_attention(Q, K, V), Q, K, V, False)

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        Q, K, V = oracles.draw(rng, (2,), 5, 7, 3, 2)
        result = learner.linear_attention(*(x.astype(np.float32) for x in (Q, K, V)))
        assert_array(result, oracles.linear(Q, K, V, False).astype(np.float32), dtype=np.float32)

    @pytest.mark.memory
    def test_a_long_sequence_holds_no_pairs(self, learner, rng):
        Q, K, V = oracles.draw(rng, (), oracles.LONG, oracles.LONG, 4, 2)
        what = f"linear_attention of {oracles.LONG} positions"
        result = oracles.held(learner.linear_attention, Q, K, V, what=what)
        rows = oracles.some_rows(rng, oracles.LONG, 0, 5000)
        oracles.assert_rows(
            result, oracles.linear(Q[rows], K, V, False), rows, (oracles.LONG, 2), name="result", rtol=1e-6
        )

    @pytest.mark.purity
    def test_arguments_stay_as_they_are(self, learner, rng):
        Q, K, V = oracles.draw(rng, (), 5, 5, 3, 2)
        with unchanged(Q, K, V):
            learner.linear_attention(Q, K, V)

    @pytest.mark.refusals
    def test_shapes_that_do_not_fit(self, learner, rng):
        Q, K, V = oracles.draw(rng, (), 5, 6, 3, 2)
        for other in [(Q[:, :2], K, V), (Q, K, V[:5]), (Q[0], K, V), (Q, K[None], V[None]), (Q[:, :0], K[:, :0], V)]:
            with pytest.raises(ValueError):
                learner.linear_attention(*other)


@pytest.mark.criterion("linear-attention-causal")
class TestLinearAttentionCausal:
    def test_any_leading_axes(self, learner, rng):
        for leading, seq in (((), 8), ((2,), 5), ((2, 3), 4), ((), 1)):
            Q, K, V = (2 * x for x in oracles.draw(rng, leading, seq, seq, 3, 2))
            assert_linear(learner.linear_attention(Q, K, V, causal=True), Q, K, V, True)

    @pytest.mark.edges
    @pytest.mark.parametrize("dtype, low", [(np.float64, -800.0), (np.float32, -60.0), (np.float32, -200.0)])
    def test_features_that_no_float_holds(self, learner, rng, dtype, low):
        """phi(q) . sum of phi(k) comes out as 0, and so does the output; the quotient of the formula is right, too."""
        (Q, K, V), far = oracles.draw(rng, (2,), 4, 4, 3, 2), low - 3
        given = [x.astype(dtype) for x in (far + np.abs(Q), far + np.abs(K), V)]
        result = learner.linear_attention(*given, causal=True)
        exact = oracles.linear_far_below(*(x.astype(np.float64) for x in given), True).astype(dtype)
        oracles.assert_either(result, np.zeros_like(exact), exact, rtol=1e-4)

    @pytest.mark.edges
    def test_a_query_whose_features_no_float_holds(self, learner, rng):
        Q, K, V = oracles.draw(rng, (), 5, 5, 3, 2)
        Q[2] = -2000.0
        result = plain_array(learner.linear_attention(Q, K, V, causal=True))
        others = [0, 1, 3, 4]
        assert_shape(result, (5, 2))
        assert_linear_rows(result[others], Q, K, V, True, others)
        assert_equal(bool(np.isfinite(result[2]).all()), True, name="whether the output of query 2 is finite")

    @pytest.mark.edges
    def test_no_keys_at_all(self, learner, rng):
        for leading, queries in (((), 0), ((2,), 0)):
            result = learner.linear_attention(*oracles.draw(rng, leading, queries, 0, 3, 2), causal=True)
            assert_array(result, np.zeros((*leading, queries, 2)))

    @pytest.mark.dtype
    def test_integers_are_numbers_too(self, learner, rng):
        Q, K, V = (rng.integers(-3, 4, size=shape) for shape in ((6, 3), (6, 3), (6, 2)))
        assert_linear(learner.linear_attention(Q, K, V, causal=True), Q, K, V, True)

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        Q, K, V = oracles.draw(rng, (), 6, 6, 3, 2)
        result = learner.linear_attention(*(x.astype(np.float32) for x in (Q, K, V)), causal=True)
        assert_array(result, oracles.linear(Q, K, V, True).astype(np.float32), dtype=np.float32)

    @pytest.mark.memory
    def test_a_long_sequence_holds_no_pairs(self, learner, rng):
        Q, K, V = oracles.draw(rng, (), oracles.LONG, oracles.LONG, 4, 2)
        what = f"causal linear_attention of {oracles.LONG} positions"
        result = oracles.held(learner.linear_attention, Q, K, V, causal=True, what=what)
        rows = oracles.some_rows(rng, oracles.LONG, 0, 1, 5000)
        expected = np.stack([oracles.linear(Q[r : r + 1], K[: r + 1], V[: r + 1], False)[0] for r in rows])
        oracles.assert_rows(result, expected, rows, (oracles.LONG, 2), name="result", rtol=1e-5)

    @pytest.mark.purity
    def test_arguments_stay_as_they_are(self, learner, rng):
        Q, K, V = oracles.draw(rng, (), 5, 5, 3, 2)
        with unchanged(Q, K, V):
            learner.linear_attention(Q, K, V, True)

    @pytest.mark.refusals
    def test_as_many_queries_as_keys(self, learner, rng):
        for seq_q, seq_k in ((5, 6), (6, 5)):
            with pytest.raises(ValueError):
                learner.linear_attention(*oracles.draw(rng, (), seq_q, seq_k, 3, 2), causal=True)
