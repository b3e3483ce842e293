"""Stage s06 as a good student might write it, from its README and stub alone: what the slips are cut into."""

from itertools import combinations_with_replacement

import numpy as np


def as_float(values):
    """Return an array of floats: float32 stays, whole numbers become float64."""
    values = np.asarray(values)
    return values if values.dtype == np.float32 else values.astype(np.float64)


def check_table(X):
    if np.ndim(X) != 2 or np.shape(X)[0] == 0:
        raise ValueError(f"X: shape {np.shape(X)}, expected (samples, features) with at least one sample")


def check_samples(X, y, name="y"):
    if np.shape(y) != (np.shape(X)[0],):
        raise ValueError(f"{name}: shape {np.shape(y)}, expected one number for each of {np.shape(X)[0]} samples")


def check_targets(y_true, y_pred):
    if np.ndim(y_true) != 1 or np.size(y_true) == 0:
        raise ValueError(f"y_true: shape {np.shape(y_true)}, expected (samples,) with at least one sample")
    if np.shape(y_pred) != np.shape(y_true):
        raise ValueError(f"y_pred: shape {np.shape(y_pred)}, expected that of y_true, {np.shape(y_true)}")


def predict(X, weights, bias):
    check_table(X)
    if np.shape(weights) != (np.shape(X)[1],):
        raise ValueError(f"weights: shape {np.shape(weights)}, expected ({np.shape(X)[1]},)")
    return X @ weights + bias


def mse_loss(y_true, y_pred):
    check_targets(y_true, y_pred)
    errors = as_float(y_pred) - as_float(y_true)
    return np.mean(errors**2)


def mse_gradient(X, y_true, y_pred):
    check_table(X)
    check_samples(X, y_true, "y_true")
    check_samples(X, y_pred, "y_pred")
    n = len(y_true)
    error = as_float(y_pred) - as_float(y_true)
    grad_weights = 2 / n * (as_float(X).T @ error)
    grad_bias = 2 / n * np.sum(error)
    return grad_weights, grad_bias


def r2_score(y_true, y_pred):
    check_targets(y_true, y_pred)
    truth, guess = as_float(y_true), as_float(y_pred)
    if truth.max() == truth.min():
        return 1.0 if np.array_equal(truth, guess) else 0.0
    residual = np.sum((truth - guess) ** 2)
    total = np.sum((truth - truth.mean()) ** 2)
    return 1 - residual / total


def normal_equation(X, y):
    check_table(X)
    check_samples(X, y)
    table, targets = as_float(X), as_float(y)
    x_mean = table.mean(axis=0)
    y_mean = targets.mean()
    centred = table - x_mean
    scale = np.max(np.abs(centred), axis=0)
    scale[np.ptp(table, axis=0) == 0] = 1
    centred[:, np.ptp(table, axis=0) == 0] = 0
    solution = np.linalg.lstsq(centred / scale, targets - y_mean, rcond=None)[0]
    weights = solution / scale
    bias = y_mean - x_mean @ weights
    return weights, bias


def standardize(X):
    check_table(X)
    table = as_float(X)
    mean = np.mean(table, axis=0)
    std = np.std(table, axis=0)
    constant = np.max(table, axis=0) == np.min(table, axis=0)
    mean = np.where(constant, table[0], mean)
    std = np.where(constant, 1, std).astype(table.dtype)
    return (table - mean) / std, mean, std


def polynomial_features(X, degree):
    check_table(X)
    if degree < 1:
        raise ValueError(f"degree: {degree}, expected 1 or more")
    X = np.asarray(X)
    columns = []
    for size in range(1, degree + 1):
        for chosen in combinations_with_replacement(range(X.shape[1]), size):
            columns.append(np.prod(X[:, list(chosen)], axis=1))
    return np.stack(columns, axis=1).astype(X.dtype) if columns else X.copy()


def train_test_split(X, y, test_size, rng):
    check_table(X)
    check_samples(X, y)
    n = len(X)
    num_test = round(test_size * n)
    if not 0 < num_test < n:
        raise ValueError(f"test_size: {test_size} of {n} samples, expected a share that leaves both parts a sample")
    order = rng.permutation(n)
    test, train = order[:num_test], order[num_test:]
    return X[train], X[test], y[train], y[test]


def fit_gradient_descent(X, y, learning_rate, num_iterations):
    check_table(X)
    check_samples(X, y)
    if not learning_rate > 0:
        raise ValueError(f"learning_rate: {learning_rate}, expected a number above 0")
    if num_iterations < 0:
        raise ValueError(f"num_iterations: {num_iterations}, expected 0 or more")
    X, y = as_float(X), as_float(y)
    weights = np.zeros(X.shape[1], dtype=X.dtype)
    bias = X.dtype.type(0)
    losses = [mse_loss(y, predict(X, weights, bias))]
    for _ in range(num_iterations):
        slope_weights, slope_bias = mse_gradient(X, y, predict(X, weights, bias))
        weights = weights - learning_rate * slope_weights
        bias = bias - learning_rate * slope_bias
        losses.append(mse_loss(y, predict(X, weights, bias)))
    return weights, bias, losses
