"""Hidden tests of stage s19: cross-attention, its padding mask and its gradients."""

import math

import numpy as np
import pytest

from grader.testing import (
    assert_array,
    assert_differ,
    assert_equal,
    assert_gradient,
    assert_shape,
    plain_array,
    unchanged,
)
from hidden.s19_encoder_decoder import checks, oracles

pytestmark = pytest.mark.values

# Shapes of x and memory where (2, 3, 4) and (2, 5, 4) go together, and of grad_output where (2, 3, 4) is expected.
REFUSED = [
    ((3, 4), (2, 5, 4)),
    ((2, 3, 4), (5, 4)),
    ((2, 3, 5), (2, 5, 4)),
    ((2, 3, 4), (2, 4, 5)),
    ((2, 3, 4), (2, 5, 1)),
    ((2, 3, 4), (1, 5, 4)),
    ((1, 3, 4), (2, 5, 4)),
    ((2, 1, 3, 4), (2, 1, 5, 4)),
]
OTHER_SHAPES = [(3, 4), (1, 3, 4), (2, 1, 4), (2, 3, 1), (3, 2, 4), (2, 5, 4), (1, 2, 3, 4)]


def new_layer(learner, p, num_heads):
    """Return a learner's layer with these parameters."""
    layer = learner.CrossAttention(len(p["query_bias"]), num_heads)
    layer.params = p
    return layer


def draw(rng, batch, target, source, dim):
    """Return x, memory and parameters."""
    p = oracles.draw(rng, oracles.cross_shapes(dim))
    return rng.normal(size=(batch, target, dim)), rng.normal(size=(batch, source, dim)), p


def check_forward(layer, x, memory, p, num_heads, mask=None):
    """Compare output and weights with the oracle's."""
    output, weights = oracles.cross_attention(x, memory, p, num_heads, mask)
    assert_array(layer.forward(x, memory) if mask is None else layer.forward(x, memory, mask), output)
    assert_array(layer.attention_weights, weights, name="attention_weights")


@pytest.mark.criterion("cross-attention")
class TestForward:
    def test_any_shapes(self, learner, rng):
        cases = [(*oracles.draw_sizes(rng, 3), 6, heads) for heads in (1, 2, 3, 6)]
        for batch, target, source, dim, heads in [*cases, (1, 1, 4, 4, 2), (2, 3, 1, 4, 2), (2, 3, 3, 1, 1)]:
            x, memory, p = draw(rng, batch, target, source, dim)
            check_forward(new_layer(learner, p, heads), x, memory, p, heads)

    @pytest.mark.purity
    def test_inputs_stay_as_they_are(self, learner, rng):
        x, memory, p = draw(rng, 2, 3, 4, 4)
        mask, layer = oracles.draw_mask(rng, 2, 4), new_layer(learner, p, 2)
        with unchanged(x, memory, mask):
            layer.forward(x, memory, mask)
            layer.backward(np.ones_like(x))

    @pytest.mark.edges
    def test_scores_of_any_size(self, learner, rng):
        x, memory, p = draw(rng, 2, 3, 4, 4)
        p["query_weights"] = p["query_weights"] * 1e4
        check_forward(new_layer(learner, p, 2), x, memory, p, 2)

    def test_the_latest_parameters_are_used(self, learner, rng):
        layer = learner.CrossAttention(4, 2, rng=rng)
        for _ in range(2):
            x, memory, layer.params = draw(rng, 2, 3, 4, 4)
            check_forward(layer, x, memory, layer.params, 2)

    def test_new_parameters(self, learner, seed):
        first, again = (learner.CrossAttention(64, 4, rng=np.random.default_rng(seed)).params for _ in range(2))
        names = [f"{part}_weights" for part in ("query", "key", "value", "output")]
        for name in names:
            assert_shape(first[name], (64, 64), name=name)
            assert_array(again[name], first[name], name=f"{name} of a second layer from an equal generator")
            assert_array(np.std(first[name]), 1 / 8, rtol=0.1, atol=0, name=f"standard deviation of {name}")
            assert_array(np.mean(first[name]), 0.0, atol=0.02, name=f"mean of {name}")
        different = len({float(first[name][0, 0]) for name in names})
        assert_equal(different, 4, name="number of different matrices among the four weights")

    @pytest.mark.purity
    def test_without_a_generator_every_layer_is_another(self, learner):
        first, second = (learner.CrossAttention(3, 1).params["query_weights"] for _ in range(2))
        assert_differ(first, second, shape=(3, 3), name="query_weights of two new layers")

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        x, memory, p = draw(rng, 2, 3, 4, 4)
        layer = new_layer(learner, {name: value.astype(np.float32) for name, value in p.items()}, 2)
        result = layer.forward(x.astype(np.float32), memory.astype(np.float32))
        assert_array(result, oracles.cross_attention(x, memory, p, 2)[0], dtype="float32", rtol=1e-4)

    @pytest.mark.refusals
    @pytest.mark.parametrize("shapes", REFUSED, ids=str)
    def test_what_does_not_go_together_is_refused(self, learner, rng, shapes):
        layer = learner.CrossAttention(4, 2, rng=rng)
        with pytest.raises(ValueError):
            layer.forward(*(rng.normal(size=shape) for shape in shapes))

    @pytest.mark.refusals
    def test_heads_that_cannot_share_the_features_are_refused(self, learner):
        for dim, num_heads in ((4, 3), (4, 0), (0, 1), (4, -2)):
            with pytest.raises(ValueError):
                learner.CrossAttention(dim, num_heads)


@pytest.mark.criterion("source-padding")
class TestPadding:
    def test_any_padding(self, learner, rng):
        x, memory, p = draw(rng, 3, 4, 5, 6)
        layer, mask = new_layer(learner, p, 3), oracles.draw_mask(rng, 3, 5)
        for each in (mask, mask.astype(int)):
            check_forward(layer, x, memory, p, 3, each)
        check_forward(layer, x, memory, p, 3)

    def test_batch_and_length_alike(self, learner, rng):
        x, memory, p = draw(rng, 4, 4, 4, 4)
        check_forward(new_layer(learner, p, 2), x, memory, p, 2, oracles.draw_mask(rng, 4, 4))

    @pytest.mark.edges
    def test_a_source_of_padding_only(self, learner, rng):
        x, memory, p = draw(rng, 3, 2, 4, 4)
        mask = oracles.draw_mask(rng, 3, 4)
        mask[rng.integers(3)] = False
        check_forward(new_layer(learner, p, 2), x, memory, p, 2, mask)

    @pytest.mark.edges
    def test_a_memory_without_a_position(self, learner, rng):
        x, memory, p = draw(rng, 2, 3, 4, 4)
        layer = new_layer(learner, p, 2)
        for options in ((), (np.ones((2, 0), dtype=bool),)):
            result = layer.forward(x, memory[:, :0], *options)
            assert_array(result, np.broadcast_to(p["output_bias"], x.shape).copy())

    @pytest.mark.edges
    def test_scores_below_every_number_that_stands_for_minus_infinity(self, learner, rng):
        """Queries and keys are all the same, so that real tokens have equal weights, at scores of about -1e100."""
        x, memory, p = draw(rng, 3, 2, 4, 4)
        p["query_bias"], p["key_bias"] = np.full(4, 1e50), np.full(4, -1e50)
        check_forward(new_layer(learner, p, 2), x, memory, p, 2, oracles.draw_mask(rng, 3, 4))

    @pytest.mark.edges
    def test_padding_does_not_set_the_scale(self, learner, rng):
        x, memory, p = draw(rng, 2, 3, 4, 4)
        mask, large = np.array([[1, 1, 0, 1], [0, 1, 1, 1]]), memory.copy()
        large[0, 2] = large[1, 0] = 1e4
        check_forward(new_layer(learner, p, 2), x, large, p, 2, mask)

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        x, memory, p = draw(rng, 2, 3, 4, 4)
        mask = oracles.draw_mask(rng, 2, 4)
        layer = new_layer(learner, {name: value.astype(np.float32) for name, value in p.items()}, 2)
        result = layer.forward(x.astype(np.float32), memory.astype(np.float32), mask)
        assert_array(result, oracles.cross_attention(x, memory, p, 2, mask)[0], dtype="float32", rtol=1e-4)

    @pytest.mark.refusals
    def test_masks_of_other_shapes_are_refused(self, learner, rng):
        x, memory, p = draw(rng, 2, 3, 4, 4)
        layer = new_layer(learner, p, 2)
        for shape in ((2, 3), (3, 4), (4, 2), (4, 4)):
            with pytest.raises(ValueError):
                layer.forward(x, memory, np.ones(shape, dtype=bool))


def check_backward(layer, x, memory, p, num_heads, grad_output, mask=None):
    """Compare the gradients after forward and backward with numerical ones."""
    layer.forward(x, memory, mask)
    grad_x, grad_memory = layer.backward(grad_output)

    def output(arrays):
        return oracles.cross_attention(arrays["x"], arrays["memory"], arrays, num_heads, mask)[0]

    expected = checks.numerical_gradients(output, grad_output, {"x": x, "memory": memory, **p})
    assert_gradient(grad_x, expected.pop("x"), name="grad_x")
    assert_gradient(grad_memory, expected.pop("memory"), name="grad_memory")
    checks.assert_gradients(layer.grads, expected)


@pytest.mark.criterion("cross-attention-gradients")
class TestBackward:
    def test_last_forward_and_last_backward_count(self, learner, rng):
        _, _, p = draw(rng, 1, 1, 1, 4)
        layer = new_layer(learner, p, 2)
        assert_equal(layer.grads, {}, name="grads before backward")
        for batch, target, source in ((2, 3, 4), (1, 4, 2), (3, 1, 3)):
            x, memory, _ = draw(rng, batch, target, source, 4)
            check_backward(layer, x, memory, p, 2, rng.normal(size=x.shape))

    def test_padding(self, learner, rng):
        for heads in (1, 3):
            x, memory, p = draw(rng, 2, 3, 4, 3)
            grad_output = rng.normal(size=x.shape)
            check_backward(new_layer(learner, p, heads), x, memory, p, heads, grad_output, oracles.draw_mask(rng, 2, 4))

    @pytest.mark.edges
    def test_a_source_of_padding_only(self, learner, rng):
        x, memory, p = draw(rng, 2, 3, 4, 4)
        mask = np.array([[False] * 4, [True, False, True, True]])
        check_backward(new_layer(learner, p, 2), x, memory, p, 2, rng.normal(size=x.shape), mask)

    def test_another_layer_is_not_touched(self, learner, rng):
        x, memory, p = draw(rng, 2, 3, 4, 4)
        alone, layer, other = (new_layer(learner, p, 2) for _ in range(3))
        alone.forward(x, memory)
        expected = alone.backward(x)
        layer.forward(x, memory)
        other.forward(-x, 2 * memory)
        for name, gradient, right in zip(("grad_x", "grad_memory"), layer.backward(x), expected, strict=True):
            assert_array(gradient, right, name=f"{name} beside another layer")

    @pytest.mark.purity
    def test_twice_backward_is_as_good_as_once(self, learner, rng):
        x, memory, p = draw(rng, 2, 3, 4, 4)
        layer = new_layer(learner, p, 2)
        layer.forward(x, memory)
        with unchanged(x, memory):
            once, grads = layer.backward(x), layer.grads
        assert_equal(sorted(grads), sorted(p), name="names of grads")
        assert_array(layer.backward(x)[1], once[1], name="second grad_memory")
        checks.assert_gradients(layer.grads, grads)

    @pytest.mark.refusals
    def test_grad_output_of_another_shape_is_refused(self, learner, rng):
        x, memory, p = draw(rng, 2, 3, 5, 4)
        layer = new_layer(learner, p, 2)
        layer.forward(x, memory)
        for shape in OTHER_SHAPES:
            with pytest.raises(ValueError):
                layer.backward(rng.normal(size=shape))

    def test_a_step_pays_what_its_gradient_promises(self, learner, rng):
        x, memory, p = draw(rng, 2, 3, 4, 4)
        layer, grad_output, step = new_layer(learner, p, 2), rng.normal(size=x.shape), 1e-6
        before = float((plain_array(layer.forward(x, memory)) * grad_output).sum())
        _, grad_memory = layer.backward(grad_output)
        steepness = float((plain_array(grad_memory) ** 2).sum())
        assert_equal(steepness > 0 and math.isfinite(steepness), True, name="whether grad_memory is a slope")
        after = float((plain_array(layer.forward(x, memory + step * grad_memory / steepness)) * grad_output).sum())
        assert_array((after - before) / step, 1.0, rtol=0.01, name="gain of a step of memory along its gradient")
