"""A column of ones beside the centred features in place of a bias apart; einsum for sums; random keys for the split."""

import numpy as np


def _table(X, *targets):
    if X.ndim != 2 or X.shape[0] < 1:
        raise ValueError(f"X has shape {X.shape}, expected (samples, features)")
    for values in targets:
        if values.ndim != 1 or len(values) != len(X):
            raise ValueError(f"targets have shape {values.shape}, expected {X.shape[:1]}")


def _alike(y_true, y_pred):
    if y_true.ndim != 1 or not len(y_true) or y_true.shape != y_pred.shape:
        raise ValueError(f"shapes {y_true.shape} and {y_pred.shape}, expected one vector each, of one length")


def predict(X, weights, bias):
    _table(X)
    if weights.shape != (X.shape[1],):
        raise ValueError(f"weights has shape {weights.shape}, expected {(X.shape[1],)}")
    return np.einsum("nf,f->n", X, weights) + bias


def mse_loss(y_true, y_pred):
    _alike(y_true, y_pred)
    error = np.subtract(y_pred, y_true, dtype=np.result_type(y_pred, y_true, 0.0))
    return np.einsum("n,n->", error, error) / error.size


def mse_gradient(X, y_true, y_pred):
    _table(X, y_true, y_pred)
    slope = (y_pred - y_true) * 2 / y_true.size
    return np.einsum("nf,n->f", X, slope), slope.sum()


def r2_score(y_true, y_pred):
    _alike(y_true, y_pred)
    if y_true.min() == y_true.max():
        return 1.0 if (y_true == y_pred).all() else 0.0
    return 1.0 - mse_loss(y_true, y_pred) / np.var(y_true)


def normal_equation(X, y):
    _table(X, y)
    center = X.mean(axis=0)
    scale = np.abs(X - center).max(axis=0)
    scale = np.where(X.min(axis=0) == X.max(axis=0), 1, scale)
    A = np.concatenate([np.ones((len(X), 1), center.dtype), (X - center) / scale], axis=1)
    U, sizes, Vt = np.linalg.svd(A, full_matrices=False)
    keep = sizes > sizes[0] * max(A.shape) * np.finfo(A.dtype).eps * 4
    solution = Vt[keep].T @ ((U.T @ y)[keep] / sizes[keep])
    weights = (solution[1:] / scale).astype(A.dtype)
    return weights, solution[0] - center @ weights


def standardize(X):
    _table(X)
    still = X.min(axis=0) == X.max(axis=0)
    mean = X.mean(axis=0)
    mean[still] = X[0, still]
    away = X - mean
    std = np.sqrt((away**2).mean(axis=0))
    std[still] = 1
    away /= std
    return away, mean, std


def polynomial_features(X, degree):
    _table(X)
    if degree <= 0:
        raise ValueError(f"degree is {degree}, expected 1 or more")
    blocks, width = [X], X.shape[1]
    starts = list(range(width))  # where in the last block the products begin whose first factor is feature j or later
    for _ in range(degree - 1):
        last = blocks[-1]
        parts = [X[:, [j]] * last[:, starts[j] :] for j in range(width)]
        sizes = np.cumsum([0, *(part.shape[1] for part in parts)])
        starts = sizes[:-1].tolist()
        blocks.append(np.hstack(parts))
    return np.hstack(blocks)


def train_test_split(X, y, test_size, rng):
    _table(X, y)
    num_test = int(np.rint(test_size * len(X)))
    if num_test < 1 or num_test > len(X) - 1:
        raise ValueError(f"test_size is {test_size}, which leaves one part empty")
    keys = rng.random(len(X))
    chosen = np.zeros(len(X), bool)
    chosen[np.argsort(keys)[:num_test]] = True
    return X[~chosen], X[chosen], y[~chosen], y[chosen]


def fit_gradient_descent(X, y, learning_rate, num_iterations):
    _table(X, y)
    if learning_rate <= 0 or num_iterations <= -1:
        raise ValueError("learning_rate has to be above 0, and num_iterations 0 or more")
    A = np.hstack([X, np.ones((len(X), 1), X.dtype)])
    model = np.zeros(A.shape[1], np.result_type(A, np.float32))
    losses = []
    for _ in range(num_iterations):
        error = A @ model - y
        losses.append(np.mean(error * error))
        model = model - learning_rate * 2 / len(X) * (error @ A)
    losses.append(np.mean((A @ model - y) ** 2))
    return model[:-1].astype(model.dtype), model[-1], losses
