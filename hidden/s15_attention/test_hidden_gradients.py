"""Hidden tests of stage s15: backward passes of attention against central differences."""

import pytest

from grader.testing import unchanged
from hidden.s15_attention import oracles
from hidden.s15_attention.checks import OTHER_SHAPES, assert_gradients, numerical_gradients, too_early, unpack
from hidden.s15_attention.oracles import PROJECTIONS

pytestmark = pytest.mark.values


def draw_attention(rng):
    """Return Q of three tokens, K and V of four, and four projections, by name: batch 2, d_model 4."""
    Q, (K, V) = rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 2, 4, 4))
    return {"Q": Q, "K": K, "V": V, **oracles.draw_projections(rng, 4)}


def attention_gradients(grad_output, arguments, num_heads, mask=None):
    """Return the numerical gradients of multi-head attention with respect to all seven arguments."""

    def output(Q, K, V, **weights):
        return oracles.multi_head(Q, K, V, weights, num_heads, mask)

    return numerical_gradients(output, grad_output, arguments)


def check_function(learner, rng, num_heads, mask=None):
    """Compare what multi_head_attention_backward returns with numerical gradients."""
    arguments, grad_output = draw_attention(rng), rng.normal(size=(2, 3, 4))
    _, cache = unpack(learner.multi_head_attention_forward(*arguments.values(), num_heads, mask), "output", "cache")
    with unchanged(grad_output):
        result = learner.multi_head_attention_backward(grad_output, cache)
    *inputs, grad_weights = unpack(result, "grad_Q", "grad_K", "grad_V", "grad_weights")
    numerical = attention_gradients(grad_output, arguments, num_heads, mask)
    assert_gradients(grad_weights, {name: numerical.pop(name) for name in PROJECTIONS}, prefix="grad_weights: ")
    assert_gradients(dict(zip("QKV", inputs, strict=True)), numerical)


@pytest.mark.criterion("multi-head-backward")
@pytest.mark.parametrize("num_heads", [1, 4])
def test_multi_head_attention(learner, rng, num_heads):
    check_function(learner, rng, num_heads)


@pytest.mark.criterion("multi-head-backward")
@pytest.mark.parametrize("empty_row", [False, pytest.param(True, marks=pytest.mark.edges)], ids=["", "empty"])
@pytest.mark.parametrize("shape", [(2, 3, 4), (2, 1, 1, 4)], ids=str)
def test_multi_head_attention_with_a_mask(learner, rng, shape, empty_row):
    check_function(learner, rng, 2, oracles.draw_mask(rng, shape, empty_row=empty_row))


@pytest.mark.criterion("multi-head-backward")
def test_class_keeps_the_last_forward_and_the_last_backward(learner, rng):
    layer = learner.MultiHeadAttention(4, 2, rng=rng.spawn(1)[0])
    for _ in range(2):
        arguments, grad_output = draw_attention(rng), rng.normal(size=(2, 3, 4))
        layer.set_params({name: arguments[name] for name in PROJECTIONS})
        layer.forward(arguments["Q"], arguments["K"], arguments["V"])
        result = layer.backward(grad_output)
    numerical = attention_gradients(grad_output, arguments, 2)
    assert_gradients(layer.get_gradients(), {name: numerical.pop(name) for name in PROJECTIONS})
    assert_gradients(dict(zip("QKV", unpack(result, "grad_Q", "grad_K", "grad_V"), strict=True)), numerical)


@pytest.mark.criterion("multi-head-backward")
@pytest.mark.purity
def test_multi_head_attention_uses_the_cache_that_it_is_given(learner, rng):
    arguments, others, grad_output = draw_attention(rng), draw_attention(rng), rng.normal(size=(2, 3, 4))
    _, cache = unpack(learner.multi_head_attention_forward(*arguments.values(), 2), "output", "cache")
    learner.multi_head_attention_forward(*others.values(), 2)
    result = learner.multi_head_attention_backward(grad_output, cache)
    *inputs, grad_weights = unpack(result, "grad_Q", "grad_K", "grad_V", "grad_weights")
    numerical = attention_gradients(grad_output, arguments, 2)
    assert_gradients(grad_weights, {name: numerical.pop(name) for name in PROJECTIONS}, prefix="grad_weights: ")
    assert_gradients(dict(zip("QKV", inputs, strict=True)), numerical)


@pytest.mark.criterion("multi-head-backward")
@pytest.mark.purity
def test_layers_share_nothing(learner, rng):
    first, grad_output = draw_attention(rng), rng.normal(size=(2, 3, 4))
    layer, other = (learner.MultiHeadAttention(4, 2, rng=each) for each in rng.spawn(2))
    layer.set_params({name: first[name] for name in PROJECTIONS})
    layer.forward(first["Q"], first["K"], first["V"])
    second = draw_attention(rng)
    other.forward(second["Q"], second["K"], second["V"])
    result = layer.backward(grad_output)
    numerical = attention_gradients(grad_output, first, 2)
    assert_gradients(layer.get_gradients(), {name: numerical.pop(name) for name in PROJECTIONS})
    assert_gradients(dict(zip("QKV", unpack(result, "grad_Q", "grad_K", "grad_V"), strict=True)), numerical)


@pytest.mark.criterion("multi-head-backward")
@pytest.mark.refusals
def test_backward_needs_a_forward_and_gradients_a_backward(learner, rng):
    layer = learner.MultiHeadAttention(4, 2, rng=rng.spawn(1)[0])
    with too_early():
        layer.backward(rng.normal(size=(2, 3, 4)))
    with too_early():
        layer.get_gradients()


@pytest.mark.criterion("multi-head-backward")
@pytest.mark.refusals
def test_gradients_of_another_shape_are_refused(learner, rng):
    arguments, x = draw_attention(rng), rng.normal(size=(2, 3, 4))
    _, cache = unpack(learner.multi_head_attention_forward(*arguments.values(), 2), "output", "cache")
    layer = learner.MultiHeadAttention(4, 2, rng=rng.spawn(1)[0])
    layer.forward(x, x, x)
    for shape in OTHER_SHAPES:
        grad_output = rng.normal(size=shape)
        with pytest.raises(ValueError):
            learner.multi_head_attention_backward(grad_output, cache)
        with pytest.raises(ValueError):
            layer.backward(grad_output)
