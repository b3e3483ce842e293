"""Hidden tests of stage s17: self-attention of one head, forward, masked and backward."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_differ, assert_equal, assert_gradient, assert_shape, unchanged
from hidden.s17_transformer_blocks import checks, oracles

pytestmark = pytest.mark.values

# Shapes of grad_output where (2, 3, 4) is expected.
OTHER_SHAPES = [(3, 4), (6, 4), (1, 3, 4), (3, 2, 4), (2, 4, 3), (2, 3, 1), (1, 2, 3, 4), (2, 3, 1, 4)]


def new_layer(learner, p):
    """Return a learner's layer with these parameters."""
    layer = learner.SelfAttention(len(p["query_bias"]))
    layer.params = p
    return layer


def check_forward(layer, x, p, mask=None):
    """Compare output and weights with the oracle's."""
    output, weights = oracles.self_attention(x, p, mask)
    assert_array(layer.forward(x) if mask is None else layer.forward(x, mask), output)
    assert_array(layer.attention_weights, weights, name="attention_weights")


@pytest.mark.criterion("self-attention")
class TestForward:
    def test_any_shapes(self, learner, rng):
        sizes = [oracles.draw_sizes(rng, 3), [1, 4, 3], [3, 1, 2], [2, 3, 1], [3, 3, 3]]
        for batch, seq, dim in sizes:
            x, p = rng.normal(size=(batch, seq, dim)), oracles.draw_self_attention(rng, dim)
            layer = new_layer(learner, p)
            with unchanged(x):
                check_forward(layer, x, p)

    @pytest.mark.parametrize("size", [1e4, -1e4])
    @pytest.mark.edges
    def test_scores_of_any_size(self, learner, rng, size):
        p = {**oracles.draw_self_attention(rng, 3), "query_weights": size * np.eye(3), "key_weights": np.eye(3)}
        p["query_bias"], p["key_bias"] = np.zeros(3), np.zeros(3)
        x = np.eye(3)[None, :2]  # each token scores itself with 1e4 / sqrt(3) or its negative, the other one with 0
        values = x @ p["value_weights"] + p["value_bias"]
        layer = new_layer(learner, p)
        assert_array(layer.forward(x), values if size > 0 else values[:, ::-1])
        mixed = np.array([[[1.0, 0.0, 0.0], [0.0, 0.01, 0.0]]])  # one row of large scores, one of small ones
        check_forward(layer, mixed, p)
        both = new_layer(learner, {**p, "query_weights": np.zeros((3, 3)), "query_bias": np.full(3, size)})
        assert_array(both.forward(x), np.repeat(values.mean(axis=1, keepdims=True), 2, axis=1), name="equal scores")

    def test_the_latest_parameters_are_used(self, learner, rng):
        layer = learner.SelfAttention(4, rng=rng)
        for _ in range(2):
            x, p = rng.normal(size=(2, 3, 4)), oracles.draw_self_attention(rng, 4)
            layer.params = p
            check_forward(layer, x, p)

    def test_new_parameters(self, learner, rng, seed):
        layer = learner.SelfAttention(64, rng=np.random.default_rng(seed))
        first, again = layer.params, learner.SelfAttention(64, rng=np.random.default_rng(seed)).params
        for part in ("query", "key", "value"):
            name = f"{part}_weights"
            assert_shape(first[name], (64, 64), name=name)
            assert_array(again[name], first[name], name=f"{name} of a second layer from an equal generator")
            assert_array(np.std(first[name]), 1 / 8, rtol=0.2, atol=0, name=f"standard deviation of {name}")
            assert_array(np.mean(first[name]), 0.0, atol=0.03, name=f"mean of {name}")
            assert_array(first[f"{part}_bias"], np.zeros(64), name=f"{part}_bias")
        different = len({float(first[f"{part}_weights"][0, 0]) for part in ("query", "key", "value")})
        assert_equal(different, 3, name="number of different matrices among the three weights")
        check_forward(layer, rng.normal(size=(1, 3, 64)), first)

    @pytest.mark.purity
    def test_without_a_generator_every_layer_is_another(self, learner):
        first, second = (learner.SelfAttention(3).params["query_weights"] for _ in range(2))
        assert_differ(first, second, shape=(3, 3), name="query_weights of two new layers")

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        x, p = rng.normal(size=(2, 3, 4)), oracles.draw_self_attention(rng, 4)
        small = {name: value.astype(np.float32) for name, value in p.items()}
        result = new_layer(learner, small).forward(x.astype(np.float32))
        assert_array(result, oracles.self_attention(x, p)[0], dtype="float32", rtol=1e-4)

    @pytest.mark.dtype
    def test_integers_have_outputs_with_fractions(self, learner, rng):
        x, p = rng.integers(-2, 3, size=(2, 3, 4)), oracles.draw_self_attention(rng, 4)
        check_forward(new_layer(learner, p), x, p)

    @pytest.mark.refusals
    def test_x_of_another_shape_is_refused(self, learner, rng):
        layer = learner.SelfAttention(4, rng=rng)
        for shape in ((4,), (3, 4), (1, 2, 3, 4), (2, 3, 1, 4), (2, 3, 5), (2, 3, 1)):
            with pytest.raises(ValueError):
                layer.forward(rng.normal(size=shape))


@pytest.mark.criterion("self-attention-masks")
class TestMasks:
    @pytest.mark.parametrize(
        "shape",
        [(4, 4), (1, 4, 4), (3, 4, 4), (3, 1, 4), (4,), pytest.param((3, 4, 1), marks=pytest.mark.edges)],
        ids=str,
    )
    def test_any_mask_that_broadcasts(self, learner, rng, shape):
        x, p = rng.normal(size=(3, 4, 5)), oracles.draw_self_attention(rng, 5)
        mask = oracles.draw_mask(rng, shape) if shape[-1] > 1 else rng.permutation(12).reshape(shape) < 6
        layer = new_layer(learner, p)
        with unchanged(x, mask):
            check_forward(layer, x, p, mask)
        check_forward(layer, x, p, mask.astype(int))
        check_forward(layer, x, p)

    @pytest.mark.edges
    def test_scores_below_every_number_that_stands_for_minus_infinity(self, learner, rng):
        """Queries and keys are all the same, so that what may be seen has equal weights, at scores of about -1e100."""
        x, p = rng.normal(size=(2, 4, 3)), oracles.draw_self_attention(rng, 3)
        p["query_bias"], p["key_bias"] = np.full(3, 1e50), np.full(3, -1e50)
        check_forward(new_layer(learner, p), x, p, oracles.draw_mask(rng, (2, 4, 4), empty_row=True))

    @pytest.mark.edges
    def test_queries_without_keys(self, learner, rng):
        x, p = rng.normal(size=(2, 4, 3)), oracles.draw_self_attention(rng, 3)
        check_forward(new_layer(learner, p), x, p, oracles.draw_mask(rng, (2, 4, 4), empty_row=True))
        check_forward(new_layer(learner, p), x, p, np.zeros((4, 4), dtype=bool))

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        x, p, mask = rng.normal(size=(2, 3, 4)), oracles.draw_self_attention(rng, 4), oracles.draw_mask(rng, (3, 3))
        layer = new_layer(learner, {name: value.astype(np.float32) for name, value in p.items()})
        result = layer.forward(x.astype(np.float32), mask)
        assert_array(result, oracles.self_attention(x, p, mask)[0], dtype="float32", rtol=1e-4)

    @pytest.mark.edges
    def test_masked_scores_do_not_set_the_scale(self, learner):
        x, one = np.array([[[1.0], [1.0], [40.0]]]), np.ones((1, 1))
        p = {f"{part}_weights": one for part in ("query", "key", "value")}
        layer = new_layer(learner, {**p, **{f"{part}_bias": np.zeros(1) for part in ("query", "key", "value")}})
        output = layer.forward(x, np.array([True, True, False]))  # the last query's scores are 40, 40 and 1600
        assert_array(output, np.ones((1, 3, 1)))
        assert_array(layer.attention_weights, [[[0.5, 0.5, 0.0]] * 3], name="attention_weights")

    @pytest.mark.refusals
    def test_a_mask_that_does_not_broadcast_is_refused(self, learner, rng):
        layer = learner.SelfAttention(2, rng=rng)
        for shape in ((3, 3), (2, 4), (4, 3), (2, 3, 4, 4)):
            with pytest.raises(ValueError):
                layer.forward(rng.normal(size=(3, 4, 2)), np.ones(shape, dtype=bool))


def check_backward(layer, x, p, grad_output, mask=None):
    """Compare the gradients after forward and backward with numerical ones."""
    layer.forward(x, mask)
    with unchanged(grad_output):
        grad_x = layer.backward(grad_output)

    def output(x, p):
        return oracles.self_attention(x, p, mask)[0]

    of_x, of_p = checks.numerical_gradients(output, grad_output, x, p)
    assert_gradient(grad_x, of_x, name="grad_x")
    checks.assert_gradients(layer.grads, of_p)


@pytest.mark.criterion("self-attention-gradients")
class TestBackward:
    def test_last_forward_and_last_backward_count(self, learner, rng):
        p = oracles.draw_self_attention(rng, 3)
        layer = new_layer(learner, p)
        assert_equal(layer.grads, {}, name="grads before backward")
        for batch, seq in ((2, 4), (1, 3), (3, 1)):
            x, grad_output = rng.normal(size=(2, batch, seq, 3))
            check_backward(layer, x, p, grad_output)

    def test_masks(self, learner, rng):
        p = oracles.draw_self_attention(rng, 2)
        layer = new_layer(learner, p)
        for shape in ((2, 4, 4), (2, 1, 4)):
            x, grad_output = rng.normal(size=(2, 2, 4, 2))
            check_backward(layer, x, p, grad_output, oracles.draw_mask(rng, shape))

    @pytest.mark.edges
    def test_queries_without_keys(self, learner, rng):
        x, grad_output = rng.normal(size=(2, 2, 4, 2))
        p, mask = oracles.draw_self_attention(rng, 2), oracles.draw_mask(rng, (2, 4, 4), empty_row=True)
        check_backward(new_layer(learner, p), x, p, grad_output, mask)

    @pytest.mark.purity
    def test_twice_backward_is_as_good_as_once(self, learner, rng):
        x, grad_output = rng.normal(size=(2, 2, 3, 4))
        p = oracles.draw_self_attention(rng, 4)
        layer = new_layer(learner, p)
        layer.forward(x)
        once, grads = layer.backward(grad_output), layer.grads
        assert_array(layer.backward(grad_output), once, name="second grad_x")
        assert_equal(sorted(grads), sorted(p), name="names of grads")
        checks.assert_gradients(layer.grads, grads)

    @pytest.mark.purity
    def test_layers_share_nothing(self, learner, rng):
        (x, other, grad_output), p = rng.normal(size=(3, 2, 3, 4)), oracles.draw_self_attention(rng, 4)
        alone, layer, another = (new_layer(learner, p) for _ in range(3))
        alone.forward(x)
        expected = alone.backward(grad_output)
        layer.forward(x)
        another.forward(other)
        assert_array(layer.backward(grad_output), expected, name="grad_x beside another layer")

    @pytest.mark.refusals
    def test_grad_output_of_another_shape_is_refused(self, learner, rng):
        layer = learner.SelfAttention(4, rng=rng)
        layer.forward(rng.normal(size=(2, 3, 4)))
        for shape in OTHER_SHAPES:
            with pytest.raises(ValueError):
                layer.backward(rng.normal(size=shape))
