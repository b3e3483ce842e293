"""What the functions of this stage should return, computed in other ways, and data to ask them about."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.testing import assert_array, assert_equal

Array = npt.NDArray[Any]


def unpack(result: Any, *names: str) -> Any:
    """Return the values of a tuple; a failure that names them if it is none or has another length."""
    if not isinstance(result, (tuple, list)) or len(result) != len(names):
        got = f"{len(result)} values" if isinstance(result, (tuple, list)) else f"one {type(result).__name__}"
        raise AssertionError(f"expected the {len(names)} values ({', '.join(names)}), got {got}")
    return result


def draw_weights(rng: np.random.Generator, *shape: int) -> Array:
    """Return weights of either sign, none of them near 0."""
    return rng.uniform(0.3, 2, shape) * rng.choice([-1.0, 1.0], shape)


def draw(rng: np.random.Generator, samples: int, features: int) -> tuple[Array, Array]:
    """Return X, (samples, features), whose features differ in mean and spread, and y, (samples,), with some noise."""
    X = rng.normal(rng.uniform(-3, 3, features), rng.uniform(0.5, 2, features), (samples, features))
    return X, X @ draw_weights(rng, features) + 4 + rng.normal(0, 0.3, samples)


def shrunk(z: float, threshold: float) -> float:
    """Return z moved towards 0 by threshold, case by case."""
    if z > threshold:
        return z - threshold
    return z + threshold if z < -threshold else 0.0


def ridge(X: Array, y: Array, alpha: float) -> tuple[Array, float]:
    """Return weights and bias where all slopes are 0, bias column and all; X has to be well conditioned."""
    A = np.column_stack([np.ones(len(X)), X])
    price = np.diag([0.0] + [alpha] * X.shape[1])
    bias, *weights = np.linalg.solve(A.T @ A + price, A.T @ y)
    return np.array(weights), float(bias)


def ridge_by_samples(X: Array, y: Array, alpha: float) -> tuple[Array, float]:
    """Return weights and bias by the dual, with one unknown for each sample: w = X^T (X X^T + alpha I)^-1 y."""
    centred = X - X.mean(axis=0)
    weights = centred.T @ np.linalg.solve(centred @ centred.T + alpha * np.eye(len(X)), y - y.mean())
    return weights, float(y.mean() - X.mean(axis=0) @ weights)


def lasso(X: Array, y: Array, alpha: float, num_iterations: int) -> tuple[Array, float]:
    """Return weights and bias of coordinate descent on the matrix of mean products, number by number."""
    centred, targets = X - X.mean(axis=0), y - y.mean()
    gram = (np.einsum("ni,nj->ij", centred, centred) / len(X)).tolist()
    products = (np.einsum("ni,n->i", centred, targets) / len(X)).tolist()
    weights = [0.0] * X.shape[1]
    for _ in range(num_iterations):
        for j, row in enumerate(gram):
            others = math.fsum(g * w for k, (g, w) in enumerate(zip(row, weights, strict=True)) if k != j)
            weights[j] = shrunk(products[j] - others, alpha) / row[j]
    return np.array(weights), float(y.mean() - X.mean(axis=0) @ np.array(weights))


def assert_model(result: Any, weights: Array, bias: float, **how: Any) -> None:
    """Assert that result is (weights, bias)."""
    found_weights, found_bias = unpack(result, "weights", "bias")
    assert_array(found_weights, weights, name="weights", **how)
    assert_array(found_bias, bias, name="bias", rtol=how.get("rtol"), atol=how.get("rtol") or 1e-8)


def assert_optimal(result: Any, X: Array, y: Array, alpha: float) -> None:
    """Assert the conditions of the lasso's optimum (Karush, Kuhn and Tucker), and a bias that leaves errors of mean 0.

    mean(x_j errors) is alpha times the sign of a weight that is not 0, and at most alpha in size where it is exactly 0.
    """
    weights, bias = unpack(result, "weights", "bias")
    assert_array(weights, np.zeros(X.shape[1]), name="weights", atol=1e6)
    errors = y - X @ weights - bias
    slopes = X.T @ errors / len(X)
    allowed = np.where(weights == 0, np.clip(slopes, -alpha, alpha), alpha * np.sign(weights))
    assert_array(slopes, allowed, name="mean(x_j errors) of each feature", rtol=0, atol=1e-6)
    assert_array(np.mean(errors), 0.0, name="the mean of the errors", atol=1e-6)


def assert_folds(folds: Any, num_samples: int, num_folds: int) -> list[Array]:
    """Return the test sets, each sorted, after asserting all that holds for folds of either kind."""
    assert_equal(len(folds), num_folds, name="the number of folds")
    tests = []
    for fold in folds:
        train, test = (np.asarray(part) for part in unpack(fold, "train", "test"))
        if train.ndim != 1 or test.ndim != 1 or train.dtype.kind not in "iu" or test.dtype.kind not in "iu":
            found = " and ".join(f"{part.dtype} {part.shape}" for part in (train, test))
            raise AssertionError(f"expected two vectors of integers, got {found}")
        both = np.sort(np.concatenate([train, test]))
        assert_array(both, np.arange(num_samples), name="train and test of a fold together, sorted")
        tests.append(np.sort(test))
    assert_array(np.sort(np.concatenate(tests)), np.arange(num_samples), name="all test sets together, sorted")
    sizes = sorted(len(test) for test in tests)
    small, extra = divmod(num_samples, num_folds)
    even = [small] * (num_folds - extra) + [small + 1] * extra
    assert_equal(sizes, even, name="the sizes of the test sets, sorted")
    return tests


def share_together(draws: list[Any], one: int, other: int) -> float:
    """Return the share of the draws in which two samples are in one test set."""
    return float(np.mean([any({one, other} <= {int(i) for i in test} for _, test in folds) for folds in draws]))


def stopping(losses: list[float], patience: int, min_delta: float) -> tuple[int, int]:
    """Return the stop epoch and the best epoch, by looking ahead from each best epoch for the next."""
    best = 0
    while True:
        window = range(best + 1, min(best + patience + 1, len(losses)))
        better = (
            epoch
            for epoch in window
            if losses[epoch] < losses[best] - min_delta or (math.isnan(losses[best]) and not math.isnan(losses[epoch]))
        )
        following = next(better, None)
        if following is None:
            return min(best + patience, len(losses) - 1), best
        best = following
