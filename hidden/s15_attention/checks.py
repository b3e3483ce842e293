"""What tests of backward passes check alike: gradients by central differences, and calls that come too early."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from grader.testing import assert_gradient
from hidden.s15_attention.oracles import Array, Params

OTHER_SHAPES = ((3, 4), (1, 3, 4), (2, 1, 4), (2, 3, 2))  # than the (2, 3, 4) of an output


@contextmanager
def too_early():
    """Assert that a ValueError or a RuntimeError is raised, but not NotImplementedError, which is the stub's."""
    with pytest.raises((ValueError, RuntimeError)) as caught:
        yield
    if isinstance(caught.value, NotImplementedError):
        raise caught.value


def unpack(result: Any, *names: str) -> Any:
    """Return the values of a tuple; AssertionError naming them if it is none or has another length."""
    if not isinstance(result, (tuple, list)) or len(result) != len(names):
        got = f"{len(result)} values" if isinstance(result, (tuple, list)) else f"one {type(result).__name__}"
        raise AssertionError(f"expected the {len(names)} values ({', '.join(names)}), got {got}")
    return result


def assert_gradients(actual: Any, numerical: Params, prefix: str = "grad_") -> None:
    """Assert that a dict of gradients agrees with finite differences, name by name."""
    if not isinstance(actual, Mapping) or set(actual) != set(numerical):
        got = sorted(map(str, actual)) if isinstance(actual, Mapping) else type(actual).__name__
        raise AssertionError(f"expected a dict of gradients with the keys {sorted(numerical)}, got {got}")
    for name, expected in numerical.items():
        assert_gradient(actual[name], expected, name=f"{prefix}{name}")


def numerical_gradients(
    output: Callable[..., Array], grad_output: Array, arguments: Params, step: float = 1e-6
) -> Params:
    """Return the gradients of sum(output(**arguments) * grad_output) by central differences.

    All steps of one argument are taken in one call, on a leading axis that every argument then has.
    """
    rank = max(value.ndim for value in (grad_output, *arguments.values()))
    stacked = {name: value.reshape(1, *[1] * (rank - value.ndim), *value.shape) for name, value in arguments.items()}
    gradients = {}
    for name, value in stacked.items():
        steps = step * np.eye(value.size).reshape(value.size, *value.shape[1:])
        outputs = output(**{**stacked, name: np.concatenate([value + steps, value - steps])})
        above, below = (outputs * grad_output).reshape(2, value.size, -1).sum(axis=-1)
        gradients[name] = ((above - below) / (2 * step)).reshape(arguments[name].shape)
    return gradients
