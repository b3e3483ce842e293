"""What tests of layers check alike: an output, its gradients by central differences, and shapes that are refused."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from grader.testing import assert_array, assert_gradient, unchanged
from hidden.s17_transformer_blocks.oracles import EXACT, MET, VARIANTS, Array, Params, Variant

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

    of_x, of_p = numerical_gradients(output, grad_output, x, p)
    assert_gradient(grad_x, of_x, name="grad_x")
    assert_gradients(layer.grads, of_p)


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


def closest(result: object, output: Callable[[Variant], Array], variants: list[Variant] = VARIANTS) -> Variant:
    """Return the accepted convention whose output comes closest to the result; the first where none can be compared."""
    array, off = result if isinstance(result, np.ndarray) else np.zeros(0), {}
    for variant in variants:
        expected = output(variant)
        if array.shape != expected.shape or array.dtype.kind != "f":
            return EXACT
        off[variant] = float(np.nan_to_num(np.abs(array - expected), nan=np.inf).max())
        if off[variant] <= MET * np.abs(expected).max():
            return variant
    return min(off, key=lambda variant: off[variant])


def assert_output(
    result: object, output: Callable[[Variant], Array], *, name: str = "result", axes: str | None = None
) -> Variant:
    """Assert that the result is the output by one of the accepted conventions; return which."""
    __tracebackhide__ = True
    output = functools.cache(output)
    variant = closest(result, output)
    assert_array(result, output(variant), name=name, axes=axes)
    return variant


def assert_gradients(actual: Any, numerical: Params) -> None:
    """Assert that a dict of gradients has these keys and agrees with finite differences."""
    if not isinstance(actual, Mapping) or set(actual) != set(numerical):
        got = sorted(map(str, actual)) if isinstance(actual, Mapping) else type(actual).__name__
        raise AssertionError(f"expected grads to be a dict with the keys {sorted(numerical)}, got {got}")
    for name, expected in numerical.items():
        assert_gradient(actual[name], expected, name=f"grads[{name!r}]")


def numerical_gradients(
    output: Callable[[Array, Params], Array], grad_output: Array, x: Array, p: Params, step: float = 1e-6
) -> tuple[Array, Params]:
    """Return the gradients of sum(output(x, p) * grad_output) with respect to x and each of p by central differences.

    All steps of one array are taken in one call, on a leading axis that every array then has.
    """
    arrays = {"": x, **p}
    rank = max(value.ndim for value in (grad_output, *arrays.values()))
    stacked = {name: value.reshape(1, *[1] * (rank - value.ndim), *value.shape) for name, value in arrays.items()}
    gradients = {}
    for name, value in stacked.items():
        steps = step * np.eye(value.size).reshape(value.size, *value.shape[1:])
        changed = {**stacked, name: np.concatenate([value + steps, value - steps])}
        outputs = output(changed.pop(""), changed)
        above, below_ = (outputs * grad_output).reshape(2, value.size, -1).sum(axis=-1)
        gradients[name] = ((above - below_) / (2 * step)).reshape(arrays[name].shape)
    return gradients.pop(""), gradients
