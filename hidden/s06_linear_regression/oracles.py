"""What the functions of this stage should return, entry by entry, and data to ask them about."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

WRONG_SAMPLES = (((4,), (4,)), ((2, 4, 3), (2,)), ((0, 3), (0,)), ((4, 3), (3,)), ((4, 3), (4, 1)), ((4, 3), (1,)))


def unpack(result: Any, *names: str) -> Any:
    """Return the values of a tuple; a failure that names them if it is none or has another length."""
    if not isinstance(result, (tuple, list)) or len(result) != len(names):
        got = f"{len(result)} values" if isinstance(result, (tuple, list)) else f"one {type(result).__name__}"
        raise AssertionError(f"expected the {len(names)} values ({', '.join(names)}), got {got}")
    return result


def draw(rng: np.random.Generator, samples: int, features: int) -> tuple[Array, Array]:
    """Return X, (samples, features), whose features differ in mean and spread, and y, (samples,), with some noise."""
    X = rng.normal(rng.uniform(-3, 3, features), rng.uniform(0.5, 2, features), (samples, features))
    return X, X @ rng.uniform(0.5, 2, features) - 4 + rng.normal(0, 0.3, samples)


def predictions(X: Array, weights: Array, bias: float) -> Array:
    """Return each prediction as a sum of products."""
    return np.array([math.fsum([bias, *(x * w for x, w in zip(row, weights, strict=True))]) for row in X.tolist()])


def loss(y_true: Array, y_pred: Array) -> float:
    """Return the mean of the squared errors."""
    return math.fsum((p - t) ** 2 for t, p in zip(y_true.tolist(), y_pred.tolist(), strict=True)) / len(y_true)


def gradient(X: Array, y_true: Array, y_pred: Array) -> tuple[Array, float]:
    """Return the gradient of the loss, sample by sample."""
    errors = [p - t for t, p in zip(y_true.tolist(), y_pred.tolist(), strict=True)]
    weights = [math.fsum(2 * e * x for e, x in zip(errors, column, strict=True)) / len(X) for column in X.T.tolist()]
    return np.array(weights), 2 * math.fsum(errors) / len(X)


def explained(y_true: Array, y_pred: Array) -> float:
    """Return R^2 of targets that are not all the same."""
    mean = math.fsum(y_true.tolist()) / len(y_true)
    return 1 - loss(y_true, y_pred) / (math.fsum((t - mean) ** 2 for t in y_true.tolist()) / len(y_true))


def least_squares(X: Array, y: Array) -> tuple[Array, float]:
    """Return weights and bias from the normal equations, bias column and all; X has to be well conditioned."""
    A = np.column_stack([np.ones(len(X)), X])
    bias, *weights = np.linalg.solve(A.T @ A, A.T @ y)
    return np.array(weights), float(bias)


def monomials(X: Array, degree: int) -> Array:
    """Return the products of one to degree features: those of one degree more are each times a later feature."""
    features = X.shape[1]
    level: list[tuple[int, ...]] = [(j,) for j in range(features)]
    chosen = list(level)
    for _ in range(degree - 1):
        level = [(*each, j) for each in level for j in range(each[-1], features)]
        chosen += level
    return np.array([[math.prod(row[j] for j in each) for each in chosen] for row in X.tolist()])


def descent(X: Array, y: Array, rate: float, steps: int) -> tuple[Array, float, list[float]]:
    """Return weights, bias and losses of gradient descent from zeros."""
    weights, bias = np.zeros(X.shape[1]), 0.0
    losses = [loss(y, predictions(X, weights, bias))]
    for _ in range(steps):
        by_weights, by_bias = gradient(X, y, predictions(X, weights, bias))
        weights, bias = weights - rate * by_weights, bias - rate * by_bias
        losses.append(loss(y, predictions(X, weights, bias)))
    return weights, bias, losses
