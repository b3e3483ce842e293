"""Stage s09 as a good student might write it, from its README and stub alone: what the slips are cut into."""

import numpy as np


def as_float(values):
    """Return an array of floats: float32 stays, whole numbers become float64."""
    values = np.asarray(values)
    return values if values.dtype == np.float32 else values.astype(np.float64)


def check_not_negative(value, name):
    if not value >= 0:
        raise ValueError(f"{name}: {value}, expected 0 or more")


def check_data(X, y):
    if np.ndim(X) != 2 or len(X) == 0:
        raise ValueError(f"X: shape {np.shape(X)}, expected (samples, features) with at least one sample")
    if np.shape(y) != (len(X),):
        raise ValueError(f"y: shape {np.shape(y)}, expected one number for each of {len(X)} samples")


def ridge_penalty(weights, alpha):
    check_not_negative(alpha, "alpha")
    return alpha * np.sum(weights**2)


def ridge_gradient(weights, alpha):
    check_not_negative(alpha, "alpha")
    return 2 * alpha * weights


def lasso_penalty(weights, alpha):
    check_not_negative(alpha, "alpha")
    return alpha * np.sum(np.abs(weights))


def soft_threshold(z, threshold):
    check_not_negative(threshold, "threshold")
    size = np.maximum(np.abs(z) - threshold, 0)
    return np.sign(z) * size


def elastic_net_gradient(weights, alpha, l1_ratio):
    check_not_negative(alpha, "alpha")
    if not 0 <= l1_ratio <= 1:
        raise ValueError(f"l1_ratio: {l1_ratio}, expected a number from 0 to 1")
    lasso_part = l1_ratio * np.sign(weights)
    ridge_part = (1 - l1_ratio) * 2 * weights
    return alpha * (lasso_part + ridge_part)


def centre(X):
    """Return X without its column means, and the means; a column that never changes becomes exactly 0."""
    mean = X.mean(axis=0)
    centred = X - mean
    centred[:, X.max(axis=0) == X.min(axis=0)] = 0
    return centred, mean


def fit_ridge(X, y, alpha):
    check_data(X, y)
    check_not_negative(alpha, "alpha")
    X, y = as_float(X), as_float(y)
    Xc, x_mean = centre(X)
    y_mean = y.mean()
    penalty_rows = np.sqrt(alpha) * np.eye(X.shape[1])
    rows = np.vstack([Xc, penalty_rows]).astype(X.dtype)
    targets = np.concatenate([y - y_mean, np.zeros(X.shape[1])]).astype(y.dtype)
    weights = np.linalg.lstsq(rows, targets, rcond=None)[0]
    bias = y_mean - x_mean @ weights
    return weights, bias


def fit_lasso(X, y, alpha, num_iterations):
    check_data(X, y)
    check_not_negative(alpha, "alpha")
    if num_iterations < 1:
        raise ValueError(f"num_iterations: {num_iterations}, expected 1 or more")
    X, y = as_float(X), as_float(y)
    Xc, x_mean = centre(X)
    y_mean = y.mean()
    w = np.zeros(X.shape[1], dtype=X.dtype)
    for _ in range(num_iterations):
        for j in range(len(w)):
            column = Xc[:, j]
            square = np.mean(column**2)
            if square == 0:
                continue
            rest = (y - y_mean) - Xc @ w + column * w[j]
            w[j] = soft_threshold(np.mean(column * rest), alpha) / square
    bias = y_mean - x_mean @ w
    return w, bias


def check_folds(num_folds, num_samples):
    if not 2 <= num_folds <= num_samples:
        raise ValueError(f"num_folds: {num_folds}, expected 2 to {num_samples}")


def k_fold_indices(num_samples, num_folds, rng):
    check_folds(num_folds, num_samples)
    order = rng.permutation(num_samples)
    parts = np.array_split(order, num_folds)
    folds = []
    for i, test in enumerate(parts):
        train = np.concatenate([part for k, part in enumerate(parts) if k != i])
        folds.append((train, test))
    return folds


def stratified_k_fold_indices(y, num_folds, rng):
    y = np.asarray(y)
    if y.ndim != 1:
        raise ValueError(f"y: shape {y.shape}, expected (samples,)")
    check_folds(num_folds, len(y))
    order = rng.permutation(len(y))
    dealt = order[np.argsort(y[order], kind="stable")]
    folds = []
    for i in range(num_folds):
        test = dealt[i::num_folds]
        train = np.setdiff1d(np.arange(len(y)), test)
        folds.append((train, test))
    return folds


def cross_val_score(fit, score, X, y, folds):
    check_data(X, y)
    if len(folds) == 0:
        raise ValueError("folds: there is none, expected at least one")
    scores = []
    for train, test in folds:
        model = fit(X[train], y[train])
        scores.append(score(model, X[test], y[test]))
    return np.array(scores)


def dropout(x, rate, rng, training=True):
    if not 0 <= rate < 1:
        raise ValueError(f"rate: {rate}, expected a number from 0 to below 1")
    if not training:
        return x.copy(), np.ones_like(x)
    kept = rng.random(x.shape) >= rate
    mask = kept.astype(x.dtype) / (1 - rate)
    return x * mask, mask


def dropout_backward(grad_output, mask):
    if np.shape(grad_output) != np.shape(mask):
        raise ValueError(f"grad_output: shape {np.shape(grad_output)}, expected that of mask, {np.shape(mask)}")
    return grad_output * mask


def early_stopping(losses, patience, min_delta=0.0):
    if len(losses) == 0:
        raise ValueError("losses: empty, expected the loss of at least one epoch")
    if patience < 1:
        raise ValueError(f"patience: {patience}, expected 1 or more")
    check_not_negative(min_delta, "min_delta")
    best, best_epoch = losses[0], 0
    for epoch in range(1, len(losses)):
        loss = losses[epoch]
        if loss < best - min_delta or (np.isnan(best) and np.isfinite(loss)):
            best, best_epoch = loss, epoch
        elif epoch - best_epoch >= patience:
            return epoch, best_epoch
    return len(losses) - 1, best_epoch
