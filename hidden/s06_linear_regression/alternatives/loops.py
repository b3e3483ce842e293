"""Everything by loops over samples and features; least squares by Gram-Schmidt, done twice."""

import math

import numpy as np


def _check_table(X):
    if X.ndim != 2 or len(X) == 0:
        raise ValueError(f"X: shape {X.shape}, expected (samples, features)")


def _check_vector(name, values, length):
    if values.shape != (length,):
        raise ValueError(f"{name}: shape {values.shape}, expected {(length,)}")


def _check_pair(y_true, y_pred):
    if y_true.ndim != 1 or len(y_true) == 0:
        raise ValueError(f"y_true: shape {y_true.shape}, expected (samples,)")
    _check_vector("y_pred", y_pred, len(y_true))


def predict(X, weights, bias):
    _check_table(X)
    _check_vector("weights", weights, X.shape[1])
    result = np.zeros(len(X), np.result_type(X, weights, np.float32))
    for i in range(len(X)):
        total = bias
        for j in range(X.shape[1]):
            total = total + X[i, j] * weights[j]
        result[i] = total
    return result


def mse_loss(y_true, y_pred):
    _check_pair(y_true, y_pred)
    total = 0.0
    for right, found in zip(y_true, y_pred, strict=True):
        total += (float(found) - float(right)) ** 2
    return total / len(y_true)


def mse_gradient(X, y_true, y_pred):
    _check_table(X)
    _check_vector("y_true", y_true, len(X))
    _check_vector("y_pred", y_pred, len(X))
    grad_weights, grad_bias = np.zeros(X.shape[1], np.result_type(X, np.float32)), 0.0
    for i in range(len(X)):
        error = float(y_pred[i] - y_true[i])
        grad_bias += 2 * error / len(X)
        for j in range(X.shape[1]):
            grad_weights[j] += 2 * error * X[i, j] / len(X)
    return grad_weights, grad_bias


def r2_score(y_true, y_pred):
    _check_pair(y_true, y_pred)
    if all(value == y_true[0] for value in y_true):
        return 1.0 if all(found == y_true[0] for found in y_pred) else 0.0
    mean = sum(y_true.tolist()) / len(y_true)
    spread = sum((value - mean) ** 2 for value in y_true.tolist()) / len(y_true)
    return 1 - mse_loss(y_true, y_pred) / spread


def normal_equation(X, y):
    _check_table(X)
    _check_vector("y", y, len(X))
    kind = np.result_type(X, np.float32)
    X_mean, y_mean = X.mean(axis=0, dtype=kind), y.mean(dtype=kind)
    A, rest = X - X_mean, y - y_mean
    largest = max((math.sqrt(float(np.sum(column**2))) for column in A.T), default=0.0)
    basis, kept, R = [], [], []
    for j in range(A.shape[1]):
        column, shares = A[:, j].astype(np.float64), np.zeros(len(basis))
        for _ in range(2):
            for k, direction in enumerate(basis):
                share = float(np.sum(direction * column))
                shares[k] += share
                column = column - share * direction
        length = math.sqrt(float(np.sum(column**2)))
        if length > 100 * np.finfo(kind).eps * max(largest, float(np.max(np.abs(X))) * 1e-10):
            basis.append(column / length)
            kept.append(j)
            R.append((shares, length))
    weights = np.zeros(A.shape[1])
    for k in reversed(range(len(basis))):
        value = float(np.sum(basis[k] * rest))
        for later in range(k + 1, len(basis)):
            value -= R[later][0][k] * weights[kept[later]]
        weights[kept[k]] = value / R[k][1]
    weights = weights.astype(kind)
    return weights, y_mean - float(np.sum(X_mean * weights))


def standardize(X):
    _check_table(X)
    kind = np.result_type(X, np.float32)
    Z, mean, std = np.zeros(X.shape, kind), np.zeros(X.shape[1], kind), np.ones(X.shape[1], kind)
    for j in range(X.shape[1]):
        column = X[:, j].astype(np.float64)
        if np.all(column == column[0]):
            mean[j] = column[0]
            continue
        center = math.fsum(column) / len(column)
        spread = math.sqrt(math.fsum((column - center) ** 2) / len(column))
        mean[j], std[j], Z[:, j] = center, spread, (column - center) / spread
    return Z, mean, std


def polynomial_features(X, degree):
    _check_table(X)
    if degree < 1:
        raise ValueError(f"degree: {degree}, expected at least 1")
    level = [(j, X[:, j]) for j in range(X.shape[1])]
    columns = [column for _, column in level]
    for _ in range(degree - 1):
        level = [(j, column * X[:, j]) for last, column in level for j in range(last, X.shape[1])]
        columns += [column for _, column in level]
    return np.column_stack(columns)


def train_test_split(X, y, test_size, rng):
    _check_table(X)
    _check_vector("y", y, len(X))
    num_test = math.floor(test_size * len(X) + 0.5)
    if num_test <= 0 or num_test >= len(X):
        raise ValueError(f"test_size: {test_size}, expected a share that leaves two parts")
    rows = list(range(len(X)))
    for i in range(len(rows) - 1, 0, -1):
        j = int(rng.integers(i + 1))
        rows[i], rows[j] = rows[j], rows[i]
    test, train = sorted(rows[:num_test]), sorted(rows[num_test:])
    return X[train], X[test], y[train], y[test]


def fit_gradient_descent(X, y, learning_rate, num_iterations):
    _check_table(X)
    _check_vector("y", y, len(X))
    if not learning_rate > 0:
        raise ValueError(f"learning_rate: {learning_rate}, expected above 0")
    if num_iterations < 0:
        raise ValueError(f"num_iterations: {num_iterations}, expected at least 0")
    weights, bias, losses = np.zeros(X.shape[1], np.result_type(X, np.float32)), 0.0, []
    for step in range(num_iterations + 1):
        y_pred = X @ weights + bias
        losses.append(float(np.mean((y_pred - y) ** 2)))
        if step < num_iterations:
            error = y_pred - y
            weights -= (2 * learning_rate * (X.T @ error) / len(X)).astype(weights.dtype)
            bias -= 2 * learning_rate * float(np.mean(error))
    return weights, bias, losses
