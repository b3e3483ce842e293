"""Sums gathered once: descent on X^T X and X^T y of centred data, weights from its eigenvectors."""

from functools import reduce
from itertools import combinations_with_replacement
from operator import mul

import numpy as np


def _expect(holds, what):
    if not holds:
        raise ValueError(what)


def predict(X, weights, bias):
    _expect(X.ndim == 2 and len(X) > 0, f"X: {X.shape}")
    _expect(weights.shape == X.shape[1:], f"weights: {weights.shape}")
    return np.sum(X * weights, axis=1, dtype=np.result_type(X, weights)) + bias


def mse_loss(y_true, y_pred):
    _expect(y_true.ndim == 1 and y_true.size > 0 and y_pred.shape == y_true.shape, f"{y_true.shape}, {y_pred.shape}")
    return float(np.square(np.subtract(y_true, y_pred, dtype=np.float64)).sum() / y_true.shape[0])


def mse_gradient(X, y_true, y_pred):
    _expect(X.ndim == 2 and len(X) > 0, f"X: {X.shape}")
    _expect(y_true.shape == y_pred.shape == X.shape[:1], f"{y_true.shape}, {y_pred.shape}")
    error = np.asarray(y_pred - y_true)[:, None]
    return (2 * (error * X).mean(axis=0)), float(2 * error.mean())


def r2_score(y_true, y_pred):
    loss = mse_loss(y_true, y_pred)
    if np.unique(y_true).size == 1:
        return np.float64(loss == 0)
    return 1 - loss / mse_loss(y_true, np.full(y_true.shape, y_true.mean()))


def normal_equation(X, y):
    _expect(X.ndim == 2 and len(X) > 0 and y.shape == X.shape[:1], f"X: {X.shape}, y: {y.shape}")
    kind = np.result_type(X, np.float32)
    middle, height = X.mean(axis=0, dtype=np.float64), y.mean(dtype=np.float64)
    A = X - middle
    sizes = np.where((X == X[0]).all(axis=0), 1, np.abs(A).max(axis=0))
    A = A / sizes
    powers, axes = np.linalg.eigh(A.T @ A)
    kept = powers > powers[-1] * 1e-12
    solution = axes[:, kept] @ ((axes[:, kept].T @ (A.T @ (y - height))) / powers[kept])
    weights = (solution / sizes).astype(kind)
    return weights, float(height - middle @ weights)


def standardize(X):
    _expect(X.ndim == 2 and len(X) > 0, f"X: {X.shape}")
    moved = X - X[0]  # a feature that never changes is 0 from here on, exactly
    mean, std = moved.mean(axis=0), moved.std(axis=0)
    std = np.where((moved == 0).all(axis=0), np.ones_like(std), std)
    return (moved - mean) / std, X[0] + mean, std


def polynomial_features(X, degree):
    _expect(X.ndim == 2 and len(X) > 0 and degree >= 1, f"X: {X.shape}, degree: {degree}")
    columns = list(X.T)
    made = [
        reduce(mul, chosen)
        for number in range(1, degree + 1)
        for chosen in combinations_with_replacement(columns, number)
    ]
    return np.array(made).T


def train_test_split(X, y, test_size, rng):
    _expect(X.ndim == 2 and len(X) > 0 and y.shape == X.shape[:1], f"X: {X.shape}, y: {y.shape}")
    num_test = round(len(X) * test_size)
    _expect(0 < num_test < len(X), f"test_size: {test_size}")
    test = rng.choice(len(X), num_test, replace=False)
    train = np.setdiff1d(np.arange(len(X)), test)
    return X[train], X[test], y[train], y[test]


def fit_gradient_descent(X, y, learning_rate, num_iterations):
    _expect(X.ndim == 2 and len(X) > 0 and y.shape == X.shape[:1], f"X: {X.shape}, y: {y.shape}")
    _expect(learning_rate > 0 and num_iterations >= 0, f"{learning_rate}, {num_iterations}")
    kind = np.result_type(X, np.float32)
    second, mixed = X.T @ X / len(X), X.T @ y / len(X)
    first, height = X.mean(axis=0), y.mean()
    weights, bias = np.zeros(X.shape[1]), 0.0

    def loss():
        return float(np.mean((X @ weights + bias - y) ** 2))

    losses = (loss(),)
    for _ in range(num_iterations):
        down = second @ weights + bias * first - mixed
        bias, weights = bias - 2 * learning_rate * (first @ weights + bias - height), weights - 2 * learning_rate * down
        losses += (loss(),)
    return weights.astype(kind), bias, list(losses)
