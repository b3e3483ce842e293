"""What tests of layers check alike: an output, its gradients, and shapes that are refused."""

import pytest

from grader.testing import assert_gradient, unchanged
from hidden.s17_transformer_blocks import oracles
from hidden.s17_transformer_blocks.oracles import assert_output

# Shapes of x where (batch, seq, 4) is expected, and of grad_output where (2, 3, 4) is.
REFUSED = [(4,), (3, 4), (1, 2, 3, 4), (2, 3, 1, 4), (2, 3, 5), (2, 3, 1)]
OTHER_SHAPES = [(3, 4), (6, 4), (1, 3, 4), (3, 2, 4), (2, 4, 3), (2, 3, 1), (1, 2, 3, 4), (2, 3, 1, 4)]


def check_block(block, x, p, num_heads, oracle, mask=None):
    """Compare the output of a block with the oracle's."""
    with unchanged(x):
        result = block.forward(x) if mask is None else block.forward(x, mask)
    assert_output(result, lambda variant: oracle(x, p, num_heads, mask, variant))


def check_backward(layer, x, p, num_heads, grad_output, oracle, mask=None, training=False, kept=None):
    """Compare the gradients after forward and backward with numerical ones."""
    more = (kept,) if kept else ()
    result = layer.forward(x, mask, training)
    variant = assert_output(result, lambda variant: oracle(x, p, num_heads, mask, variant, *more))
    with unchanged(grad_output):
        grad_x = layer.backward(grad_output)

    def output(x, p):
        return oracle(x, p, num_heads, mask, variant, *more)

    of_x, of_p = oracles.numerical_gradients(output, grad_output, x, p)
    assert_gradient(grad_x, of_x, name="grad_x")
    oracles.assert_gradients(layer.grads, of_p)


def check_backward_refusals(layer, rng):
    """Check the errors of the backward pass of a layer of four features."""
    with pytest.raises(RuntimeError) as caught:
        layer.backward(rng.normal(size=(2, 3, 4)))
    if isinstance(caught.value, NotImplementedError):  # a RuntimeError too, but the stub's
        raise caught.value
    layer.forward(rng.normal(size=(2, 3, 4)))
    for shape in OTHER_SHAPES:
        with pytest.raises(ValueError):
            layer.backward(rng.normal(size=shape))
