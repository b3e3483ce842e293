"""Hidden tests of stage s15: splitting and merging heads, and multi-head attention forward."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_shape, unchanged
from hidden.s15_attention.checks import unpack
from hidden.s15_attention.oracles import PROJECTIONS, draw_mask, draw_projections, draw_sizes, multi_head, split

pytestmark = pytest.mark.values


@pytest.mark.criterion("split-heads")
class TestSplitHeads:
    def test_any_shapes(self, learner, rng):
        for seq, num_heads, d_k in (draw_sizes(rng, 3), (3, 3, 3)):
            x = rng.normal(size=(2, seq, num_heads * d_k))
            with unchanged(x):
                result = learner.split_heads(x, num_heads)
            assert_array(result, split(x, num_heads))

    @pytest.mark.edges
    def test_one_head_and_one_feature_a_head(self, learner, rng):
        x = rng.normal(size=(2, 3, 5))
        assert_array(learner.split_heads(x, 1), split(x, 1), name="result with one head")
        assert_array(learner.split_heads(x, 5), split(x, 5), name="result with five heads")

    @pytest.mark.dtype
    def test_heads_in_single_precision(self, learner, rng):
        x = rng.normal(size=(2, 3, 4)).astype(np.float32)
        assert_array(learner.split_heads(x, 2), split(x, 2), dtype="float32")

    @pytest.mark.refusals
    def test_heads_or_axes_that_do_not_fit_are_refused(self, learner, rng):
        for num_heads in (8, 3, 0, -2, 2.0):
            with pytest.raises((ValueError, TypeError)):
                learner.split_heads(rng.normal(size=(2, 6, 4)), num_heads)
        for shape in ((3, 4), (2, 2, 3, 4)):
            with pytest.raises(ValueError):
                learner.split_heads(rng.normal(size=shape), 2)


@pytest.mark.criterion("merge-heads")
class TestMergeHeads:
    def test_any_shapes(self, learner, rng):
        for seq, num_heads, d_k in (draw_sizes(rng, 3), (4, 4, 4)):
            x = rng.normal(size=(2, seq, num_heads * d_k))
            heads = split(x, num_heads)
            with unchanged(heads):
                merged = learner.merge_heads(heads)
            assert_array(merged, x)

    @pytest.mark.edges
    def test_one_head_and_one_feature_a_head(self, learner, rng):
        x = rng.normal(size=(2, 3, 5))
        assert_array(learner.merge_heads(split(x, 1)), x, name="result with one head")
        assert_array(learner.merge_heads(split(x, 5)), x, name="result with five heads")

    @pytest.mark.dtype
    def test_merged_in_single_precision(self, learner, rng):
        x = rng.normal(size=(2, 3, 4)).astype(np.float32)
        assert_array(learner.merge_heads(split(x, 2)), x, dtype="float32")

    @pytest.mark.refusals
    def test_other_numbers_of_axes_are_refused(self, learner, rng):
        for shape in ((2, 3, 4), (2, 2, 2, 3, 4)):
            with pytest.raises(ValueError):
                learner.merge_heads(rng.normal(size=shape))


def forward(learner, Q, K, V, weights, num_heads, mask=None):
    """Return the output of the learner's function."""
    projections = [weights[name] for name in PROJECTIONS]
    result = learner.multi_head_attention_forward(Q, K, V, *projections, num_heads, mask)
    return unpack(result, "output", "cache")[0]


@pytest.mark.criterion("multi-head-forward")
class TestMultiHeadAttention:
    def test_queries_keys_and_values_differ(self, learner, rng):
        Q, (K, V) = rng.normal(size=(2, 4, 6)), rng.normal(size=(2, 2, 5, 6))
        weights = draw_projections(rng, 6)
        for num_heads in (3, 1, 6):
            with unchanged(Q, K, V, *weights.values()):
                output = forward(learner, Q, K, V, weights, num_heads)
            assert_array(output, multi_head(Q, K, V, weights, num_heads), name=f"output of {num_heads} heads")

    @pytest.mark.parametrize("empty_row", [False, pytest.param(True, marks=pytest.mark.edges)], ids=["", "empty"])
    @pytest.mark.parametrize("shape", [(4, 5), (2, 4, 5), (2, 2, 4, 5), (2, 1, 1, 5)], ids=str)
    def test_mask_of_every_rank(self, learner, rng, shape, empty_row):
        Q, (K, V) = rng.normal(size=(2, 4, 6)), rng.normal(size=(2, 2, 5, 6))  # batch 2, heads 2
        weights, mask = draw_projections(rng, 6), draw_mask(rng, shape, empty_row=empty_row)
        with unchanged(mask):
            output = forward(learner, Q, K, V, weights, 2, mask)
        assert_array(output, multi_head(Q, K, V, weights, 2, mask))

    def test_class_uses_its_latest_parameters(self, learner, rng):
        Q, K, V = rng.normal(size=(3, 2, 5, 6))
        layer, mask = learner.MultiHeadAttention(6, 3, rng=rng.spawn(1)[0]), draw_mask(rng, (2, 5, 5)).astype(int)
        for weights in (draw_projections(rng, 6), draw_projections(rng, 6)):
            layer.set_params(weights)
            assert_array(layer.forward(Q, K, V), multi_head(Q, K, V, weights, 3))
            assert_array(layer.forward(Q, K, V, mask), multi_head(Q, K, V, weights, 3, mask), name="result with a mask")

    def test_new_weights_are_random_and_of_the_right_size(self, learner, seed):
        layers = [learner.MultiHeadAttention(64, 4, rng=np.random.default_rng(seed)) for _ in range(2)]
        params, again = (layer.get_params() for layer in layers)
        complete = isinstance(params, dict) and set(params) == set(PROJECTIONS)
        assert_equal(complete, True, name="whether get_params() is a dict of W_Q, W_K, W_V and W_O")
        for name in PROJECTIONS:
            assert_shape(params[name], (64, 64), name=name)
            assert_array(again[name], params[name], name=f"{name} of a second layer from an equal generator")
            assert_array(np.std(params[name]), 1 / 8, rtol=0.5, atol=0, name=f"standard deviation of {name}")
            assert_array(np.mean(params[name]), 0.0, atol=0.05, name=f"mean of {name}")
        different = len({float(params[name][0, 0]) for name in PROJECTIONS})
        assert_equal(different, 4, name="number of different matrices among W_Q, W_K, W_V, W_O")

    @pytest.mark.refusals
    def test_heads_that_do_not_divide_the_features_are_refused(self, learner, rng):
        x, weights = rng.normal(size=(2, 3, 6)), draw_projections(rng, 6)
        with pytest.raises(ValueError):
            learner.multi_head_attention_forward(x, x, x, *weights.values(), 4)
        for d_model, num_heads in ((6, 4), (6, 0), (6, -2), (6, 2.0), (0, 1), (-6, 1), (6.0, 1)):
            with pytest.raises((ValueError, TypeError)):
                learner.MultiHeadAttention(d_model, num_heads, rng=rng.spawn(1)[0])

    @pytest.mark.refusals
    def test_shapes_that_do_not_fit_are_refused(self, learner, rng):
        fitting = {"Q": (2, 3, 6), "K": (2, 5, 6), "V": (2, 5, 6), **dict.fromkeys(PROJECTIONS, (6, 6))}
        wrong = {
            "Q": [(3, 6), (1, 3, 6), (2, 3, 4)], "K": [(5, 6), (1, 5, 6), (2, 4, 6), (2, 5, 4)],
            "V": [(5, 6), (1, 5, 6), (2, 4, 6)], "W_Q": [(6, 4)], "W_V": [(4, 6)], "W_O": [(6, 4), (6,)],
        }  # fmt: skip
        for name, shape in ((name, shape) for name, shapes in wrong.items() for shape in shapes):
            arguments = {each: rng.normal(size=size) for each, size in {**fitting, name: shape}.items()}
            with pytest.raises(ValueError):
                learner.multi_head_attention_forward(*arguments.values(), 2)
        arguments = {each: rng.normal(size=size) for each, size in fitting.items()}
        for mask in ((2, 5), (2, 2, 5), (1, 2, 2, 3, 5)):
            with pytest.raises(ValueError):
                learner.multi_head_attention_forward(*arguments.values(), 2, np.ones(mask, dtype=bool))

    @pytest.mark.refusals
    def test_parameters_that_do_not_fit_are_refused_and_change_nothing(self, learner, rng):
        layer = learner.MultiHeadAttention(6, 2, rng=rng.spawn(1)[0])
        weights, others = (draw_projections(rng, 6) for _ in "ab")
        layer.set_params(weights)
        with pytest.raises(ValueError):
            layer.set_params({**others, "W_V": others["W_V"][:, :4]})
        with pytest.raises(ValueError):
            layer.set_params({name: others[name] for name in PROJECTIONS[:3]})
        with pytest.raises(ValueError):
            layer.set_params({**others, "W_X": others["W_V"]})
        params = layer.get_params()
        for name in PROJECTIONS:
            assert_array(params[name], weights[name], name=name)
