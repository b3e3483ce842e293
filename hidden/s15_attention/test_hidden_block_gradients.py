"""Hidden tests of stage s15: backward passes of a block and its parts against central differences."""

from functools import partial

import numpy as np
import pytest

from grader.testing import assert_array, assert_gradient, assert_shape, unchanged
from hidden.s15_attention import oracles
from hidden.s15_attention.checks import OTHER_SHAPES, assert_gradients, numerical_gradients, too_early, unpack
from hidden.s15_attention.oracles import BLOCK_PARAMETERS, PROJECTIONS

pytestmark = pytest.mark.values


@pytest.mark.criterion("feed-forward-backward")
def test_feed_forward(learner, rng):
    for leading in ((2, 3), ()):
        x = rng.normal(size=(*leading, 4))
        arguments = dict(zip(("x", "W1", "b1", "W2", "b2"), (x, *oracles.draw_network(rng, x, 6)), strict=True))
        grad_output = rng.normal(size=x.shape)
        with unchanged(grad_output, *arguments.values()):
            result = learner.feed_forward_backward(grad_output, *arguments.values())
        gradients = unpack(result, "grad_x", "grad_W1", "grad_b1", "grad_W2", "grad_b2")
        numerical = numerical_gradients(oracles.feed_forward, grad_output, arguments)
        assert_gradients(dict(zip(arguments, gradients, strict=True)), numerical)


@pytest.mark.criterion("layer-norm-backward")
def test_layer_norm(learner, rng):
    for leading in ((2, 3), ()):
        x, gamma = oracles.draw_rows(rng, (*leading, 5)), oracles.draw_scale(rng, 5)
        arguments, grad_output = {"x": x, "gamma": gamma, "beta": np.zeros(5)}, rng.normal(size=x.shape)
        with unchanged(grad_output, x, gamma):
            result = learner.layer_norm_backward(grad_output, x, gamma)
        gradients = unpack(result, "grad_x", "grad_gamma", "grad_beta")
        numerical = numerical_gradients(oracles.layer_norm, grad_output, arguments)
        assert_gradients(dict(zip(arguments, gradients, strict=True)), numerical)


@pytest.mark.criterion("layer-norm-backward")
def test_layer_norm_uses_eps(learner, rng):
    x, gamma, grad_output = oracles.draw_rows(rng, (3, 5)), oracles.draw_scale(rng, 5), rng.normal(size=(3, 5))
    result = learner.layer_norm_backward(grad_output, x, gamma, eps=0.5)
    gradients = dict(zip("xgb", unpack(result, "grad_x", "grad_gamma", "grad_beta"), strict=True))
    assert_shape(gradients["x"], x.shape, name="grad_x")
    arguments = {"x": x, "gamma": gamma, "beta": np.zeros(5)}
    inside, outside = (
        numerical_gradients(partial(oracles.layer_norm, eps=0.5, eps_outside=place), grad_output, arguments)
        for place in (False, True)
    )
    closer = min(inside, outside, key=lambda numerical: np.abs(gradients["x"] - numerical["x"]).max())
    assert_gradients(dict(zip(arguments, gradients.values(), strict=True)), closer)
    small = 1e-3 * x  # where 1e-6 matters, the default
    default, given = (learner.layer_norm_backward(grad_output, small, gamma, **eps) for eps in ({}, {"eps": 1e-6}))
    for name, value, expected in zip(("grad_x", "grad_gamma", "grad_beta"), default, given, strict=True):
        assert_array(value, expected, name=f"{name} without eps")


@pytest.mark.criterion("layer-norm-backward")
@pytest.mark.refusals
def test_layer_norm_of_shapes_that_do_not_fit_is_refused(learner, rng):
    for shapes in (((1, 5), (3, 5), (5,)), ((3, 5), (1, 5), (5,)), ((5,), (3, 5), (5,)), ((3, 5), (3, 5), (1,))):
        with pytest.raises(ValueError):
            learner.layer_norm_backward(*(rng.normal(size=shape) for shape in shapes))


@pytest.mark.criterion("feed-forward-backward")
@pytest.mark.refusals
def test_feed_forward_of_shapes_that_do_not_fit_is_refused(learner, rng):
    for network in oracles.wrong_networks(rng, (3, 4), 7):
        with pytest.raises(ValueError):
            learner.feed_forward_backward(rng.normal(size=(3, 4)), *network)
    x = rng.normal(size=(1, 3, 4))
    network = oracles.draw_network(rng, x, 7)
    for shape in ((3, 4), (1, 1, 4), (1, 3, 1), (1, 3, 3, 4)):
        with pytest.raises(ValueError):
            learner.feed_forward_backward(rng.normal(size=shape), x, *network)


@pytest.mark.criterion("encoder-block-backward")
@pytest.mark.refusals
def test_backward_of_a_block_needs_a_forward(learner, rng):
    block = learner.TransformerEncoderBlock(4, 2, rng=rng.spawn(1)[0])
    with too_early():
        block.backward(rng.normal(size=(2, 3, 4)))


@pytest.mark.criterion("encoder-block-backward")
@pytest.mark.refusals
def test_gradients_of_another_shape_are_refused_by_a_block(learner, rng):
    block = learner.TransformerEncoderBlock(4, 2, rng=rng.spawn(1)[0])
    block.forward(rng.normal(size=(2, 3, 4)))
    for shape in OTHER_SHAPES:
        with pytest.raises(ValueError):
            block.backward(rng.normal(size=shape))


def check_block(block, x, parameters, grad_output, mask):
    """Compare the gradients of a block after its backward pass with numerical ones."""

    def output(x, **parameters):
        return oracles.block(x, parameters, 2, mask)

    block.forward(x, mask)
    with unchanged(grad_output):
        grad_x = block.backward(grad_output)
    numerical = numerical_gradients(output, grad_output, {"x": x, **parameters})
    for name in BLOCK_PARAMETERS:
        assert_gradient(getattr(block, f"grad_{name}"), numerical[name], name=f"grad_{name}")
    of_attention = {name: numerical[name] for name in PROJECTIONS}
    assert_gradients(block.attention.get_gradients(), of_attention, prefix="attention: grad_")
    assert_gradients(block.grad_attention, of_attention, prefix="grad_attention: ")
    assert_gradient(grad_x, numerical["x"], name="grad_x")


@pytest.mark.criterion("encoder-block-backward")
def test_block_with_a_mask(learner, rng):
    x, mask = oracles.draw_rows(rng, (2, 3, 4), oracles.STRETCH), oracles.draw_mask(rng, (3, 3))
    parameters = oracles.draw_block(rng, x, 2, 6, mask)
    block = learner.TransformerEncoderBlock(4, 2, d_ff=6)
    oracles.load_block(block, parameters)
    check_block(block, x, parameters, rng.normal(size=x.shape), mask)


@pytest.mark.criterion("encoder-block-backward")
def test_block_keeps_the_last_forward_and_the_last_backward(learner, rng):
    first, x = (oracles.draw_rows(rng, (2, seq, 4), oracles.STRETCH) for seq in (2, 4))
    parameters = oracles.draw_block(rng, x, 2, 6)
    block = learner.TransformerEncoderBlock(4, 2, d_ff=6)
    oracles.load_block(block, parameters)
    block.forward(first)
    block.backward(rng.normal(size=first.shape))
    check_block(block, x, parameters, rng.normal(size=x.shape), None)


@pytest.mark.criterion("encoder-block-backward")
@pytest.mark.purity
def test_blocks_share_nothing(learner, rng):
    x, grad_output = oracles.draw_rows(rng, (2, 3, 4), oracles.STRETCH), rng.normal(size=(2, 3, 4))
    parameters = oracles.draw_block(rng, x, 2, 6)
    block, other = (learner.TransformerEncoderBlock(4, 2, d_ff=6) for _ in range(2))
    oracles.load_block(block, parameters)
    block.forward(x)
    other.forward(x[::-1] + 1.0)
    grad_x = block.backward(grad_output)
    numerical = numerical_gradients(lambda x: oracles.block(x, parameters, 2, None), grad_output, {"x": x})
    assert_gradient(grad_x, numerical["x"], name="grad_x")
