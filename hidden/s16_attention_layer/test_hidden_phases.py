"""Hidden tests of stage s16: the weights, the small methods, and the output with one head and with several."""

import itertools

import numpy as np
import pytest

from grader.testing import assert_array, assert_differ, assert_equal, assert_shape, unchanged
from hidden.s16_attention_layer import oracles
from hidden.s16_attention_layer.oracles import WEIGHTS, build, draw_case, steps

pytestmark = pytest.mark.values


@pytest.mark.criterion("initial-weights")
class TestInitialWeights:
    def test_sizes_of_other_layers(self, learner, rng):
        for heads, head_dimension in ((2, 5), (1, 6), (7, 1), (3, 4)):
            layer = learner.Attention(heads * head_dimension, heads, rng)
            assert_equal(layer.embedding_dimension, heads * head_dimension, name="embedding_dimension")
            assert_equal(layer.number_of_heads, heads, name="number_of_heads")
            assert_equal(layer.head_dimension, head_dimension, name="head_dimension")
            assert_array(layer.scale_factor, 1 / np.sqrt(head_dimension), name="scale_factor")

    @pytest.mark.parametrize("name", WEIGHTS)
    def test_weights_are_normally_distributed(self, learner, rng, name):
        weights = getattr(learner.Attention(60, 5, rng), name)
        assert_shape(weights, (60, 60), name=name)
        assert_array(np.std(weights), 0.02, rtol=0.1, atol=0, name=f"standard deviation of {name}")
        assert_array(np.mean(weights), 0.0, atol=0.003, name=f"mean of {name}")
        beyond = float(np.mean(np.abs(weights) > 0.04))  # 4.6 % of normal numbers are beyond two deviations
        assert_array(beyond, 0.0455, atol=0.025, name=f"share of {name} beyond 0.04")

    def test_equal_generators_give_equal_weights(self, learner, seed):
        layers = [learner.Attention(6, 2, rng=np.random.default_rng(seed)) for _ in range(2)]
        for name in WEIGHTS:
            first, second = (getattr(layer, name) for layer in layers)
            assert_array(second, first, name=f"{name} of a second layer from an equal generator")

    def test_no_two_matrices_are_alike(self, learner, rng):
        layer = learner.Attention(6, 2, rng)
        for one, other in itertools.combinations(WEIGHTS, 2):
            assert_differ(getattr(layer, one), getattr(layer, other), shape=(6, 6), name=f"{one} and {other}")

    @pytest.mark.purity
    def test_without_a_generator_the_weights_are_fresh(self, learner):
        first, second = (learner.Attention(6, 2).query_weights for _ in range(2))
        assert_differ(first, second, shape=(6, 6), name="query_weights of two layers without rng")

    @pytest.mark.refusals
    def test_heads_that_cannot_share_the_features_are_refused(self, learner, rng):
        embedding = int(rng.integers(5, 9))
        for heads in (embedding + 1, 2 * embedding, embedding - 1, -1, -embedding, 0):
            with pytest.raises(ValueError):
                learner.Attention(embedding, heads, rng)


@pytest.mark.criterion("softmax")
class TestSoftmax:
    def test_any_shape(self, learner, rng):
        layer = learner.Attention(6, 3, rng)
        for shape in ((2, 3, 4, 5), (4, 4, 4, 4), (3, 7), (6,), (2, 3, 1)):
            scores = 3 * rng.normal(size=shape)
            with unchanged(scores):
                weights = layer.softmax(scores)
            assert_array(weights, oracles.softmax(scores))

    @pytest.mark.edges
    def test_scores_of_any_size(self, learner, rng):
        scores = rng.normal(size=(2, 3, 5)) + np.array([1e4, -1e4, 0.0])[:, None]
        weights = learner.Attention(6, 3, rng).softmax(scores)
        assert_array(weights, oracles.softmax(scores))

    @pytest.mark.edges
    def test_scores_below_every_number_that_stands_for_minus_infinity(self, learner, rng):
        scores = -1e100 * rng.uniform(1.0, 2.0, size=(2, 3, 5))
        assert_array(learner.Attention(6, 3, rng).softmax(scores), oracles.softmax(scores))

    @pytest.mark.edges
    def test_spread_scores(self, learner, rng):
        scores = 1e4 * rng.normal(size=(2, 3, 5))
        assert_array(learner.Attention(6, 3, rng).softmax(scores), oracles.softmax(scores))

    @pytest.mark.edges
    def test_minus_infinity_gets_no_weight(self, learner, rng):
        scores = rng.normal(size=(2, 3, 4, 5))
        scores[rng.random(scores.shape) < 0.3] = -np.inf
        scores[1, 2, 3] = -np.inf
        with unchanged(scores):
            weights = learner.Attention(6, 3, rng).softmax(scores)
        assert_array(weights, oracles.softmax(scores))

    @pytest.mark.edges
    def test_low_scores_alone_are_no_mask(self, learner, rng):
        scores = np.full((2, 4), -1e9)
        assert_array(learner.Attention(6, 3, rng).softmax(scores), np.full((2, 4), 0.25))

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        scores = rng.normal(size=(2, 3, 4)).astype(np.float32)
        scores[0, 0] = -np.inf
        weights = learner.Attention(6, 3, rng).softmax(scores)
        assert_array(weights, oracles.softmax(scores.astype(np.float64)), dtype="float32")

    @pytest.mark.dtype
    def test_integers_have_weights_with_fractions(self, learner, rng):
        scores = rng.integers(-3, 4, size=(2, 3, 4))
        assert_array(learner.Attention(6, 3, rng).softmax(scores), oracles.softmax(scores.astype(float)))


@pytest.mark.criterion("single-head-attention")
class TestSingleHead:
    def test_any_sizes(self, learner, rng):
        for sizes in ({}, {"batch": 1}, {"lengths": (1, 1)}, {"head_dimension": 1}):
            case = draw_case(rng, heads=1, **sizes)
            layer = build(learner, case)
            with unchanged(*case.inputs):
                output = layer.forward(*case.inputs)
            assert_array(output, steps(case)["output"], axes="batch seq embedding")

    def test_new_weights_are_used(self, learner, rng):
        first, second = (draw_case(rng, heads=1, head_dimension=3) for _ in range(2))
        layer = build(learner, first)
        layer.forward(*first.inputs)
        for name in WEIGHTS:
            setattr(layer, name, second.arrays[name])
        assert_array(layer.forward(*second.inputs), steps(second)["output"], axes="batch seq embedding")


@pytest.mark.criterion("split-heads")
class TestSplitHeads:
    def test_any_sizes(self, learner, rng):
        for heads, head_dimension in ((3, 4), (4, 3), (2, 2), (1, 5), (5, 1)):
            x = rng.normal(size=(2, 6, heads * head_dimension))
            with unchanged(x):
                result = learner.Attention(heads * head_dimension, heads, rng).split_heads(x)
            expected = np.stack(np.split(x, heads, axis=2), axis=1)
            assert_array(result, expected, axes="batch heads seq head_dimension")

    @pytest.mark.refusals
    def test_other_shapes_are_refused(self, learner, rng):
        layer = learner.Attention(6, 3, rng)
        for shape in ((4, 6), (6,), (2, 4, 12), (2, 4, 3), (2, 4, 6, 6), (2, 4, 3, 2), (1, 2, 3, 6)):
            with pytest.raises(ValueError):
                layer.split_heads(rng.normal(size=shape))


@pytest.mark.criterion("concatenate-heads")
class TestConcatenateHeads:
    def test_any_sizes(self, learner, rng):
        for heads, head_dimension in ((3, 4), (4, 3), (2, 2), (1, 5), (5, 1)):
            x = rng.normal(size=(2, 6, heads * head_dimension))
            parts = np.stack(np.split(x, heads, axis=2), axis=1)
            with unchanged(parts):
                result = learner.Attention(heads * head_dimension, heads, rng).concatenate_heads(parts)
            assert_array(result, x, axes="batch seq embedding")

    @pytest.mark.refusals
    def test_other_shapes_are_refused(self, learner, rng):
        layer = learner.Attention(6, 3, rng)
        for shape in ((2, 3, 4), (2, 6, 4, 2), (2, 3, 4, 4), (2, 2, 4, 3), (2, 3, 4, 2, 2), (2, 3, 4, 2, 1)):
            with pytest.raises(ValueError):
                layer.concatenate_heads(rng.normal(size=shape))


@pytest.mark.criterion("output-projection")
class TestSeveralHeads:
    def test_any_sizes(self, learner, rng):
        for sizes in ({}, {"batch": 1}, {"lengths": (1, 1)}, {"heads": 6, "head_dimension": 1}, {"heads": 1}):
            case = draw_case(rng, **sizes)
            layer = build(learner, case)
            with unchanged(*case.inputs):
                output = layer.forward(*case.inputs)
            assert_array(output, steps(case)["output"], axes="batch seq embedding")

    def test_every_axis_of_the_same_size(self, learner, rng):
        case = draw_case(rng, heads=4, head_dimension=4, batch=4, lengths=(4, 4))
        assert_array(build(learner, case).forward(*case.inputs), steps(case)["output"], axes="batch seq embedding")

    def test_weights_of_a_new_layer(self, learner, rng):
        case = draw_case(rng)
        layer = learner.Attention(case.embedding, case.heads, rng)
        arrays = {**case.arrays, **{name: getattr(layer, name) for name in WEIGHTS}}
        expected = steps(oracles.Case(case.heads, arrays))["output"]
        assert_array(layer.forward(*case.inputs), expected, axes="batch seq embedding")

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        case = oracles.as_float32(draw_case(rng, causal=True, padded=True))
        output = build(learner, case).forward(*case.inputs, **case.options)
        assert_array(output, steps(oracles.as_float64(case))["output"], dtype="float32")

    @pytest.mark.dtype
    def test_integers_have_outputs_with_fractions(self, learner, rng):
        case = oracles.of_integers(draw_case(rng, causal=True, padded=True))
        output = build(learner, case).forward(*case.inputs, **case.options)
        assert_array(output, steps(oracles.as_float64(case))["output"])

    @pytest.mark.refusals
    def test_inputs_of_other_shapes_are_refused(self, learner, rng):
        layer = learner.Attention(6, 3, rng)
        for shape in ((4, 6), (6,), (2, 4, 5), (2, 4, 12), (2, 3, 4, 6)):
            with pytest.raises(ValueError):
                layer.forward(rng.normal(size=shape))
