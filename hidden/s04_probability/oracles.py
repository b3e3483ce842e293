"""What the functions of this stage should return, number by number, and distributions to ask them about."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def unpack(result: Any, *names: str) -> Any:
    """Return the values of a tuple; a failure that names them if it is none or has another length."""
    if not isinstance(result, (tuple, list)) or len(result) != len(names):
        got = f"{len(result)} values" if isinstance(result, (tuple, list)) else f"one {type(result).__name__}"
        raise AssertionError(f"expected the {len(names)} values ({', '.join(names)}), got {got}")
    return result


def distribution(rng: np.random.Generator, *shape: int) -> Array:
    """Return distributions along the last axis, none of whose probabilities is very small."""
    weights = rng.uniform(0.2, 1, shape)
    return weights / weights.sum(axis=-1, keepdims=True)


def log_density(x: float, mean: float, std: float) -> float:
    """Return the logarithm of the normal density at one point."""
    return -(((x - mean) / std) ** 2) / 2 - math.log(std * math.sqrt(2 * math.pi))


def log_sum(values: list[float]) -> float:
    """Return log(sum(exp(values))) of numbers that exp can take."""
    return math.log(math.fsum(math.exp(value) for value in values))


def surprise(p: list[float], q: list[float]) -> float:
    """Return the mean of -log q under p."""
    return -math.fsum(a * math.log(b) for a, b in zip(p, q, strict=True) if a > 0)


def covariance(X: Array, ddof: int) -> Array:
    """Return the covariances in exact arithmetic, rounded once."""
    columns = [[Fraction(x) for x in column] for column in X.T.tolist()]
    means = [sum(column) / len(column) for column in columns]
    return np.array(
        [
            [
                float(sum((x - a) * (y - b) for x, y in zip(one, other, strict=True)) / (len(one) - ddof))
                for other, b in zip(columns, means, strict=True)
            ]
            for one, a in zip(columns, means, strict=True)
        ]
    )
