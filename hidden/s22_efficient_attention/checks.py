"""What tests of tiles check alike: both passes against whole arrays."""

from grader.testing import assert_array
from hidden.s22_efficient_attention import oracles

BLOCKS = [1, 2, 3, 5, 64]
FORWARD = ("output", "log_sum_exp")
BACKWARD = ("grad_Q", "grad_K", "grad_V")
AXES = {"output": "seq_q d_v", "log_sum_exp": "seq_q"}


def assert_tiled(result, Q, K, V, allowed=1):
    """Assert that a result of tiled_attention is that of exact attention."""
    found = oracles.parts(result, FORWARD)
    for name, actual, expected in zip(FORWARD, found, oracles.attention(Q, K, V, allowed), strict=False):
        axes = AXES[name] if Q.ndim == 2 else None
        assert_array(actual, expected, name=name, terms=4 * K.shape[-2], axes=axes)


def backward(learner, grad, Q, K, V, block_size, allowed=1, **options):
    """Return the gradients, with output and log_sum_exp as exact attention has them."""
    output, log_sum_exp, _ = oracles.attention(Q, K, V, allowed)
    found = learner.tiled_attention_backward(grad, Q, K, V, output, log_sum_exp, block_size, **options)
    return oracles.parts(found, BACKWARD)
