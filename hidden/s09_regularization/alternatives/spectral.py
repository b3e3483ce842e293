"""Ridge from singular values, lasso from the matrix of mean products, folds from the number each sample is given."""

import numpy as np


def _expect(holds, what):
    if not holds:
        raise ValueError(what)


def ridge_penalty(weights, alpha):
    _expect(alpha >= 0, f"alpha: {alpha}")
    return float(alpha * np.linalg.norm(weights.ravel()) ** 2)


def ridge_gradient(weights, alpha):
    _expect(alpha >= 0, f"alpha: {alpha}")
    return alpha * weights + alpha * weights


def lasso_penalty(weights, alpha):
    _expect(alpha >= 0, f"alpha: {alpha}")
    return alpha * np.dot(np.sign(weights.ravel()), weights.ravel())


def soft_threshold(z, threshold):
    _expect(threshold >= 0, f"threshold: {threshold}")
    return z - np.clip(z, -threshold, threshold)


def elastic_net_gradient(weights, alpha, l1_ratio):
    _expect(0 <= l1_ratio <= 1, f"l1_ratio: {l1_ratio}")
    signs = np.where(weights > 0, 1, np.where(weights < 0, -1, 0)).astype(weights.dtype)
    return alpha * l1_ratio * signs + (1 - l1_ratio) * ridge_gradient(weights, alpha)


def _means(X, y):
    _expect(X.ndim == 2 and len(X) > 0, f"X: {X.shape}")
    _expect(y.shape == (len(X),), f"y: {y.shape}")
    return X.mean(axis=0, dtype=float), float(y.mean(dtype=float))


def fit_ridge(X, y, alpha):
    _expect(alpha >= 0, f"alpha: {alpha}")
    middle, height = _means(X, y)
    left, sizes, right = np.linalg.svd(X - middle, full_matrices=False)
    kept = sizes > 1e-13 * max(sizes.max(), 1e-300)
    shrunk = sizes[kept] / (sizes[kept] ** 2 + alpha)
    weights = right[kept].T @ (shrunk * (left[:, kept].T @ (y - height)))
    return weights.astype(np.result_type(X, np.float32)), height - middle @ weights


def fit_lasso(X, y, alpha, num_iterations):
    middle, height = _means(X, y)
    _expect(num_iterations >= 1, f"num_iterations: {num_iterations}")
    _expect(alpha >= 0, f"alpha: {alpha}")
    constant = (X == X[0]).all(axis=0)
    A = np.where(constant, 0, X - middle)
    gram, slopes = A.T @ A / len(X), A.T @ (y - height) / len(X)
    weights, squares = np.zeros(X.shape[1]), np.where(constant, 1, np.diag(gram))
    for step in range(num_iterations * X.shape[1]):
        j = step % X.shape[1]
        weights[j] = soft_threshold(slopes[j] + squares[j] * weights[j], alpha) / squares[j]
        slopes = A.T @ (y - height - A @ weights) / len(X)
    return weights.astype(np.result_type(X, np.float32)), height - middle @ weights


def _by_number(numbers, num_folds):
    return [(np.flatnonzero(numbers != fold), np.flatnonzero(numbers == fold)) for fold in range(num_folds)]


def k_fold_indices(num_samples, num_folds, rng):
    _expect(2 <= num_folds <= num_samples, f"num_folds: {num_folds}")
    numbers = np.arange(num_samples) % num_folds
    rng.shuffle(numbers)
    return _by_number(numbers, num_folds)


def stratified_k_fold_indices(y, num_folds, rng):
    _expect(y.ndim == 1 and 2 <= num_folds <= y.size, f"y: {y.shape}, num_folds: {num_folds}")
    numbers, dealt = np.empty(y.size, int), 0
    for label in set(y.tolist()):
        members = np.flatnonzero(y == label)
        numbers[members] = rng.permutation((dealt + np.arange(members.size)) % num_folds)
        dealt += members.size
    return _by_number(numbers, num_folds)


def cross_val_score(fit, score, X, y, folds):
    _means(X, y)
    _expect(len(folds) > 0, "folds: empty")
    models = [fit(X[train], y[train]) for train, _ in folds]
    return np.fromiter((score(m, X[test], y[test]) for m, (_, test) in zip(models, folds, strict=True)), float)


def dropout(x, rate, rng, training=True):
    _expect(0 <= rate < 1, f"rate: {rate}")
    kept = rng.binomial(1, 1 - rate, x.shape) if training else np.ones(x.shape)
    mask = np.asarray(kept / (1 - rate if training else 1), dtype=np.result_type(x, 1.0))
    return np.multiply(mask, x), mask


def dropout_backward(grad_output, mask):
    _expect(np.shape(grad_output) == np.shape(mask), f"mask: {np.shape(mask)}")
    return np.where(mask > 0, grad_output * mask, grad_output * 0)


def early_stopping(losses, patience, min_delta=0.0):
    _expect(len(losses) > 0, "losses: empty")
    _expect(patience > 0 and min_delta >= 0, f"patience: {patience}, min_delta: {min_delta}")
    values = np.where(np.isnan(losses), np.inf, losses)
    best_epoch = 0
    while True:
        window = values[best_epoch + 1 : best_epoch + patience + 1]
        better = np.flatnonzero(window < values[best_epoch] - min_delta)
        if not better.size:
            return best_epoch + len(window), best_epoch
        best_epoch += int(better[0]) + 1
