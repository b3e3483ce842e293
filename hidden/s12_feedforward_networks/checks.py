"""How tests compare an answer with what is right, and central differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from grader.testing import assert_array, assert_gradient, assert_shape
from hidden.s12_feedforward_networks.oracles import EXACT, VARIANTS, Array, Params, Variant


def assert_either(
    result: object, expected: Callable[[Variant], Array], *, name: str = "result", rtol: float | None = None
) -> Variant:
    """Assert that the result is what is expected by one of the accepted conventions; return which."""
    __tracebackhide__ = True
    wanted = {variant: expected(variant) for variant in VARIANTS}
    assert_shape(result, wanted[EXACT].shape, name=name)
    array = np.asarray(result, dtype=np.float64)
    far = {variant: float(np.nan_to_num(np.abs(array - wanted[variant]), nan=np.inf).max()) for variant in VARIANTS}
    variant = min(VARIANTS, key=far.__getitem__)
    assert_array(result, wanted[variant], name=name, rtol=rtol)
    return variant


def assert_gradients(actual: Any, numerical: Params) -> None:
    """Assert that a dict of gradients has these keys and agrees with finite differences."""
    assert_keys(actual, numerical, "grads")
    for name, expected in numerical.items():
        assert_gradient(actual[name], expected, name=f"grads[{name!r}]")


def assert_params(actual: Any, expected: Params, name: str = "params", **options: Any) -> None:
    """Assert that a dict of parameters has these keys and values; options are those of assert_array."""
    assert_keys(actual, expected, name)
    for key, value in expected.items():
        assert_array(actual[key], value, name=f"{name}[{key!r}]", **options)


def assert_keys(actual: Any, expected: Params, name: str) -> None:
    """Assert that actual is a dict with the keys of another."""
    if not isinstance(actual, Mapping) or set(actual) != set(expected):
        got = sorted(map(str, actual)) if isinstance(actual, Mapping) else type(actual).__name__
        raise AssertionError(f"expected {name} to be a dict with the keys {sorted(expected)}, got {got}")


def numerical_gradients(
    output: Callable[[Array, Params], Array], grad_output: Array, x: Array, p: Params, step: float = 1e-6
) -> tuple[Array, Params]:
    """Return the gradients of sum(output(x, p) * grad_output) with respect to x and each of p by central differences.

    All steps of one array are taken in one call, on a leading axis that every array then has.
    """
    arrays = {"": x, **p}
    rank = max(value.ndim for value in arrays.values())
    stacked = {name: value.reshape(1, *[1] * (rank - value.ndim), *value.shape) for name, value in arrays.items()}
    found = {}
    for name, value in stacked.items():
        steps = step * np.eye(value.size).reshape(value.size, *value.shape[1:])
        changed = {**stacked, name: np.concatenate([value + steps, value - steps])}
        outputs = output(changed.pop(""), changed)
        above, below = (outputs * grad_output).reshape(2, value.size, -1).sum(axis=-1)
        found[name] = ((above - below) / (2 * step)).reshape(arrays[name].shape)
    return found.pop(""), found
