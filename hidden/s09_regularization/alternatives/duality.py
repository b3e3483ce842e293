"""Ridge with one unknown for each sample or feature, lasso on running errors, penalties as matrix products."""

import functools

import numpy as np


def _refuse(wrong, what):
    if wrong:
        raise ValueError(what)


def _penalty(function):
    @functools.wraps(function)
    def checked(weights, strength, *more):
        _refuse(strength < 0, f"{function.__name__}: strength {strength}, expected at least 0")
        return function(weights, strength, *more)

    return checked


@_penalty
def ridge_penalty(weights, alpha):
    return np.einsum("i,i->", weights.ravel(), weights.ravel()) * alpha


@_penalty
def ridge_gradient(weights, alpha):
    return np.multiply(weights, 2 * alpha)


@_penalty
def lasso_penalty(weights, alpha):
    return np.linalg.norm(weights.ravel(), 1) * alpha


@_penalty
def soft_threshold(z, threshold):
    return np.maximum(z - threshold, 0) + np.minimum(z + threshold, 0)


@_penalty
def elastic_net_gradient(weights, alpha, l1_ratio):
    _refuse(l1_ratio < 0 or l1_ratio > 1, f"l1_ratio: {l1_ratio}")
    gradient = (2 * alpha * (1 - l1_ratio)) * weights
    gradient[weights > 0] += alpha * l1_ratio
    gradient[weights < 0] -= alpha * l1_ratio
    return gradient


def _samples(X, y):
    _refuse(X.ndim != 2 or not len(X) or y.shape != (len(X),), f"X: {X.shape}, y: {y.shape}")


def fit_ridge(X, y, alpha):
    _samples(X, y)
    _refuse(alpha < 0, f"alpha: {alpha}")
    samples, features = X.shape
    X_mean, y_mean = np.mean(X, axis=0), np.mean(y)
    A, t = X - X_mean, y - y_mean
    if alpha == 0:
        weights = np.linalg.pinv(A) @ t
    elif samples > features:
        weights = np.linalg.solve(A.T @ A + alpha * np.eye(features, dtype=A.dtype), A.T @ t)
    else:
        weights = A.T @ np.linalg.solve(A @ A.T + alpha * np.eye(samples, dtype=A.dtype), t)
    return weights, y_mean - np.dot(weights, X_mean)


def fit_lasso(X, y, alpha, num_iterations):
    _samples(X, y)
    _refuse(alpha < 0, f"alpha: {alpha}")
    _refuse(num_iterations < 1, f"num_iterations: {num_iterations}")
    A = X - np.mean(X, axis=0)
    sums = np.where(np.ptp(X, axis=0) > 0, np.einsum("ni,ni->i", A, A), np.inf)  # what never changes is divided away
    weights, errors = np.zeros(X.shape[1], A.dtype), y - np.mean(y)
    while num_iterations:
        num_iterations -= 1
        for j, total in enumerate(sums):
            before = weights[j]
            plain = before + A[:, j] @ errors / total
            weights[j] = soft_threshold(plain, alpha * len(X) / total)
            errors = errors + A[:, j] * (before - weights[j])
    return weights, np.mean(y - X @ weights)


def k_fold_indices(num_samples, num_folds, rng):
    _refuse(num_folds < 2 or num_folds > num_samples, f"num_folds: {num_folds}")
    parts = np.array_split(np.argsort(rng.random(num_samples)), num_folds)
    return [(np.concatenate(parts[:i] + parts[i + 1 :]), part) for i, part in enumerate(parts)]


def stratified_k_fold_indices(y, num_folds, rng):
    _refuse(y.ndim != 1, f"y: {y.shape}")
    _refuse(num_folds < 2 or num_folds > len(y), f"num_folds: {num_folds}")
    order = np.lexsort((rng.random(len(y)), -y))
    tests = [order[np.arange(len(y)) % num_folds == fold] for fold in range(num_folds)]
    return tuple((np.delete(np.arange(len(y)), test), test) for test in tests)


def cross_val_score(fit, score, X, y, folds):
    _samples(X, y)
    _refuse(not folds, "folds: empty")
    parts = [[(X[rows], y[rows]) for rows in fold] for fold in folds]
    return np.array([score(fit(*train), *test) for train, test in parts])


def dropout(x, rate, rng, training=True):
    _refuse(rate < 0 or rate >= 1, f"rate: {rate}")
    if not training:
        return x, np.ones(x.shape, np.result_type(x, 1.0))
    mask = rng.choice(np.array([0, 1 / (1 - rate)], np.result_type(x, 1.0)), size=x.shape, p=[rate, 1 - rate])
    return x * mask, mask


def dropout_backward(grad_output, mask):
    _refuse(grad_output.shape != mask.shape, f"grad_output: {grad_output.shape}, mask: {mask.shape}")
    return mask * grad_output


def early_stopping(losses, patience, min_delta=0.0):
    _refuse(len(losses) < 1 or patience < 1 or min_delta < 0, f"patience: {patience}, min_delta: {min_delta}")
    best_epochs = [0]
    for epoch in range(1, len(losses)):
        best = losses[best_epochs[-1]]
        improves = losses[epoch] < best - min_delta or (best != best and losses[epoch] == losses[epoch])
        best_epochs.append(epoch if improves else best_epochs[-1])
    late = [epoch for epoch, best in enumerate(best_epochs) if epoch - best >= patience]
    stop_epoch = late[0] if late else len(losses) - 1
    return stop_epoch, best_epochs[stop_epoch]
