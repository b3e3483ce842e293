"""Hidden tests of stage s23: grouped queries, with and without a window, forward and backward."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_shape, plain_array, unchanged
from hidden.s23_modern_decoder import oracles
from hidden.s23_modern_decoder.oracles import assert_gradients, parts

pytestmark = pytest.mark.values

HEADS = [(4, 2), (6, 2), (6, 3), (3, 3), (5, 1)]
# torch 2.13.0 in float64, autograd of scaled_dot_product_attention with enable_gqa and a causal window of 2
FRAMEWORK = {
    "grad_K": [
        [[0.003933357, 0.016215708], [0.036819506, 0.014191531], [-0.040752863, -0.030407239]],
        [[0.004172052, -0.010146823], [-0.005258744, 0.006610417], [0.001086692, 0.003536405]],
    ],
    "grad_V": [[[-0.116482871], [-0.071984605], [-0.047350987]], [[-0.039469982], [-0.08378331], [-0.053950293]]],
}


def draw_heads(rng, leading=(2,), heads=4, shared=2, seq_q=5, seq_k=5, d=3, d_v=2):
    """Return Q, K and V."""
    shapes = ((heads, seq_q, d), (shared, seq_k, d), (shared, seq_k, d_v))
    return tuple(rng.normal(size=(*leading, *shape)) for shape in shapes)


@pytest.mark.criterion("grouped-query")
class TestGroupedQuery:
    @pytest.mark.parametrize("heads, shared", HEADS)
    def test_groups_of_all_sizes(self, learner, rng, heads, shared):
        for leading in ((), (2,), (2, 3)):
            arrays = draw_heads(rng, leading, heads, shared)
            output, _ = parts(learner.grouped_query_attention_forward(*arrays), ("output", "cache"))
            assert_array(output, oracles.grouped(*arrays), terms=40)

    @pytest.mark.parametrize("seq_q, seq_k", [(1, 6), (3, 7), (1, 1)])
    def test_queries_are_those_of_the_last_positions(self, learner, rng, seq_q, seq_k):
        arrays = draw_heads(rng, seq_q=seq_q, seq_k=seq_k)
        output, _ = parts(learner.grouped_query_attention_forward(*arrays), ("output", "cache"))
        assert_array(output, oracles.grouped(*arrays), terms=40)

    @pytest.mark.edges
    def test_scores_of_any_size(self, learner, rng):
        V, K = rng.normal(size=(1, 4, 2)), np.array([0.0, 3.0, 1.0, 9.0]).reshape(1, 4, 1)
        for size in (1000.0, 1e100):
            Q = np.stack([np.full((4, 1), size), np.full((4, 1), -size)])
            output, _ = parts(learner.grouped_query_attention_forward(Q, K, V), ("output", "cache"))
            assert_array(output, np.stack([V[0, [0, 1, 1, 3]], V[0, [0, 0, 0, 0]]]))

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        arrays = [array.astype("f4") for array in draw_heads(rng)]
        output, _ = parts(learner.grouped_query_attention_forward(*arrays), ("output", "cache"))
        expected = oracles.grouped(*(array.astype(float) for array in arrays)).astype("f4")
        assert_array(output, expected, dtype="float32")

    @pytest.mark.purity
    def test_arguments_stay_as_they_are(self, learner, rng):
        Q, K, V = draw_heads(rng)
        with unchanged(Q, K, V):
            learner.grouped_query_attention_forward(Q, K, V)

    @pytest.mark.refusals
    def test_what_does_not_fit(self, learner, rng):
        Q, K, V = draw_heads(rng)
        several = draw_heads(rng, (2, 3))
        wrong = [
            (several[0], *(np.swapaxes(each, 0, 1) for each in several[1:])),
            (Q, K, V[:, :1]),
            (Q[0], K[0, 0], V[0, 0]),
            (Q[:, :3], K, V),
            (Q[..., :2], K, V),
            (Q, K, V[:, :, :3]),
            (Q, K[:, :1], V),
            (Q, K[:1], V[:1]),
            (Q, K[:, :, :4], V[:, :, :4]),
            (Q[0, 0], K[0, 0], V[0, 0]),
        ]
        for arrays in wrong:
            with pytest.raises(ValueError):
                learner.grouped_query_attention_forward(*arrays)


@pytest.mark.criterion("window")
class TestWindow:
    @pytest.mark.parametrize("window", [1, 2, 3, 5, 6, 50])
    def test_windows_of_all_sizes(self, learner, rng, window):
        for seq_q in (6, 1, 4):
            arrays = draw_heads(rng, seq_q=seq_q, seq_k=6)
            output, _ = parts(learner.grouped_query_attention_forward(*arrays, window), ("output", "cache"))
            assert_array(output, oracles.grouped(*arrays, window), terms=40)

    def test_none_is_no_window(self, learner, rng):
        arrays = draw_heads(rng)
        output, _ = parts(learner.grouped_query_attention_forward(*arrays, window=None), ("output", "cache"))
        assert_array(output, oracles.grouped(*arrays), terms=40)

    @pytest.mark.edges
    def test_scores_below_every_number_that_stands_for_minus_infinity(self, learner, rng):
        Q, K, V = np.full((1, 4, 1), 1e50), np.full((1, 4, 1), -1e50), rng.normal(size=(1, 4, 2))
        output, _ = parts(learner.grouped_query_attention_forward(Q, K, V, 2), ("output", "cache"))
        mean = (V[:, 1:] + V[:, :-1]) / 2
        assert_array(output, np.concatenate([V[:, :1], mean], axis=1))

    @pytest.mark.refusals
    def test_windows_that_are_none(self, learner, rng):
        for window in (0, -2, 2.0):
            with pytest.raises(ValueError):
                learner.grouped_query_attention_forward(*draw_heads(rng), window)


@pytest.mark.criterion("grouped-query-gradients")
class TestGradients:
    @pytest.mark.parametrize("heads, shared", HEADS)
    @pytest.mark.parametrize("window", [None, 2])
    def test_finite_differences(self, learner, rng, heads, shared, window):
        leading = (2,) if heads == 4 else ()
        arrays = dict(zip("QKV", draw_heads(rng, leading, heads, shared, 4, 4), strict=True))
        check(learner, rng, arrays, window)

    def test_fewer_queries_than_keys(self, learner, rng):
        check(learner, rng, dict(zip("QKV", draw_heads(rng, (), 4, 2, 2, 5), strict=True)), 3)

    def test_another_framework(self, learner):
        Q, K = np.sin(np.arange(24.0)).reshape(4, 3, 2), np.cos(np.arange(12.0)).reshape(2, 3, 2)
        V, grad = np.sin(np.arange(6.0) ** 2).reshape(2, 3, 1), np.cos(np.arange(12.0)).reshape(4, 3, 1)
        _, cache = parts(learner.grouped_query_attention_forward(Q, K, V, 2), ("output", "cache"))
        found = parts(learner.grouped_query_attention_backward(grad, cache), ("grad_Q", "grad_K", "grad_V"))
        for (name, expected), actual in zip(FRAMEWORK.items(), found[1:], strict=True):
            assert_array(actual, expected, atol=1e-8, name=name)

    def test_a_key_that_nobody_sees_gets_nothing(self, learner, rng):
        Q, K, V = draw_heads(rng, (), 4, 2, 1, 4)
        _, cache = parts(learner.grouped_query_attention_forward(Q, K, V, 2), ("output", "cache"))
        grad_output = rng.normal(size=(4, 1, 2))
        found = parts(learner.grouped_query_attention_backward(grad_output, cache), ("grad_Q", "grad_K", "grad_V"))
        for name, value, shape in zip(("grad_K", "grad_V"), found[1:], (K.shape, V.shape), strict=True):
            assert_shape(value, shape, name=name)
            assert_array(value[:, :2], np.zeros((2, 2, shape[-1])), name=f"{name} of the keys before the window")

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        arrays = [array.astype("f4") for array in draw_heads(rng)]
        _, cache = parts(learner.grouped_query_attention_forward(*arrays), ("output", "cache"))
        grad = rng.normal(size=(2, 4, 5, 2)).astype("f4")
        found = parts(learner.grouped_query_attention_backward(grad, cache), ("grad_Q", "grad_K", "grad_V"))
        for name, value in zip(("grad_Q", "grad_K", "grad_V"), found, strict=True):
            assert_array(value, np.asarray(plain_array(value), dtype=float), name=name, dtype="float32")

    @pytest.mark.refusals
    def test_a_gradient_of_another_shape(self, learner, rng):
        _, cache = parts(learner.grouped_query_attention_forward(*draw_heads(rng)), ("output", "cache"))
        for shape in ((2, 4, 5, 3), (2, 2, 5, 2), (4, 5, 2), (2, 4, 4, 2), (2, 5, 4, 2)):
            with pytest.raises(ValueError):
                learner.grouped_query_attention_backward(np.ones(shape), cache)


def check(learner, rng, arrays, window):
    """Compare all three gradients with finite differences."""
    Q, V = arrays["Q"], arrays["V"]
    grad_output = rng.normal(size=(*Q.shape[:-1], V.shape[-1]))
    _, cache = parts(learner.grouped_query_attention_forward(*arrays.values(), window), ("output", "cache"))
    expected = oracles.numerical_gradients(
        lambda p: oracles.grouped(*p.values(), window), grad_output, arrays, list(arrays)
    )
    with unchanged(grad_output):
        found = learner.grouped_query_attention_backward(grad_output, cache)
    assert_gradients(found, expected)
