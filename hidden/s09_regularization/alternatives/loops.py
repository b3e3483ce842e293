"""Number by number in Python, with elimination for ridge and a hand of cards for the folds."""

import math

import numpy as np


def _expect(holds, what):
    if not holds:
        raise ValueError(what)


def _each(function, values):
    flat = [function(value) for value in values.ravel().tolist()]
    return np.array(flat, np.result_type(values, 1.0)).reshape(values.shape)


def ridge_penalty(weights, alpha):
    _expect(alpha >= 0, f"alpha: {alpha}, expected at least 0")
    return alpha * math.fsum(w * w for w in weights.ravel().tolist())


def ridge_gradient(weights, alpha):
    _expect(alpha >= 0, f"alpha: {alpha}, expected at least 0")
    return _each(lambda w: 2 * alpha * w, weights)


def lasso_penalty(weights, alpha):
    _expect(alpha >= 0, f"alpha: {alpha}, expected at least 0")
    return alpha * math.fsum(abs(w) for w in weights.ravel().tolist())


def _shrunk(z, threshold):
    return math.copysign(max(abs(z) - threshold, 0.0), z)


def soft_threshold(z, threshold):
    _expect(threshold >= 0, f"threshold: {threshold}, expected at least 0")
    return _each(lambda each: _shrunk(each, threshold), z) if isinstance(z, np.ndarray) else _shrunk(z, threshold)


def elastic_net_gradient(weights, alpha, l1_ratio):
    _expect(alpha >= 0 and 0 <= l1_ratio <= 1, f"alpha: {alpha}, l1_ratio: {l1_ratio}")

    def slope(w):
        sign = 0 if w == 0 else math.copysign(1, w)
        return alpha * l1_ratio * sign + 2 * alpha * (1 - l1_ratio) * w

    return _each(slope, weights)


def _centred(X, y):
    _expect(X.ndim == 2 and len(X) > 0 and y.shape == X.shape[:1], f"X: {X.shape}, y: {y.shape}")
    columns = X.T.astype(float).tolist()
    means = [math.fsum(column) / len(X) for column in columns]
    columns = [[x - mean for x in column] for column, mean in zip(columns, means, strict=True)]
    height = math.fsum(y.astype(float).tolist()) / len(y)
    return columns, means, [t - height for t in y.astype(float).tolist()], height


def _model(X, weights, means, height):
    bias = height - math.fsum(w * mean for w, mean in zip(weights, means, strict=True))
    return np.array(weights, np.result_type(X, np.float32)), bias


def fit_ridge(X, y, alpha):
    _expect(alpha >= 0, f"alpha: {alpha}, expected at least 0")
    columns, means, targets, height = _centred(X, y)
    rows = [
        [
            math.fsum(a * b for a, b in zip(one, other, strict=True)) + alpha * (i == j)
            for j, other in enumerate(columns)
        ]
        + [math.fsum(a * t for a, t in zip(one, targets, strict=True))]
        for i, one in enumerate(columns)
    ]
    sizes = [row[i] for i, row in enumerate(rows)]
    weights = [0.0] * len(rows)
    for i, row in enumerate(rows):  # positive definite: no pivoting
        if row[i] <= 1e-12 * sizes[i]:
            continue  # without a penalty: it depends on the features before it, and they do without it
        weights[i] = 1.0
        for j, other in enumerate(rows):
            if j != i:
                factor = other[i] / row[i]
                rows[j] = [b - factor * a for a, b in zip(row, other, strict=True)]
    weights = [row[-1] / row[i] if kept else 0.0 for i, (row, kept) in enumerate(zip(rows, weights, strict=True))]
    return _model(X, weights, means, height)


def fit_lasso(X, y, alpha, num_iterations):
    _expect(alpha >= 0 and num_iterations >= 1, f"alpha: {alpha}, num_iterations: {num_iterations}")
    columns, means, errors, height = _centred(X, y)
    weights = [0.0] * len(columns)
    for _ in range(num_iterations):
        for j, column in enumerate(columns):
            if len(set(X[:, j].tolist())) == 1:
                continue
            size = math.fsum(x * x for x in column) / len(X)
            product = math.fsum(x * e for x, e in zip(column, errors, strict=True)) / len(X)
            new = _shrunk(product + size * weights[j], alpha) / size
            errors = [e - x * (new - weights[j]) for x, e in zip(column, errors, strict=True)]
            weights[j] = new
    return _model(X, weights, means, height)


def k_fold_indices(num_samples, num_folds, rng):
    _expect(2 <= num_folds <= num_samples, f"num_folds: {num_folds}")
    cards = list(range(num_samples))
    for i in range(num_samples - 1, 0, -1):
        j = int(rng.integers(0, i + 1))
        cards[i], cards[j] = cards[j], cards[i]
    return _hands(cards, num_folds)


def _hands(cards, num_folds):
    hands = [[] for _ in range(num_folds)]
    for turn, card in enumerate(cards):
        hands[turn % num_folds].append(card)
    everyone = range(len(cards))
    return [(np.array([i for i in everyone if i not in hand]), np.array(hand)) for hand in hands]


def stratified_k_fold_indices(y, num_folds, rng):
    _expect(y.ndim == 1, f"y: {y.shape}")
    _expect(2 <= num_folds <= len(y), f"num_folds: {num_folds}")
    cards = [card for _, _, card in sorted(zip(y.tolist(), rng.random(len(y)).tolist(), range(len(y)), strict=True))]
    return _hands(cards, num_folds)


def cross_val_score(fit, score, X, y, folds):
    _expect(X.ndim == 2 and len(X) > 0 and y.shape == X.shape[:1] and len(folds) > 0, f"X: {X.shape}, y: {y.shape}")
    scores = np.zeros(len(folds))
    for i, (train, test) in enumerate(folds):
        model = fit(X[train], y[train])
        scores[i] = score(model, X[test], y[test])
    return scores


def dropout(x, rate, rng, training=True):
    _expect(0 <= rate < 1, f"rate: {rate}, expected from 0 to below 1")
    mask = np.ones(x.shape, np.result_type(x, 1.0))
    if training:
        for index in np.ndindex(x.shape):
            mask[index] = 0 if rng.random() < rate else 1 / (1 - rate)
    return x * mask, mask


def dropout_backward(grad_output, mask):
    _expect(grad_output.shape == mask.shape, f"grad_output: {grad_output.shape}, mask: {mask.shape}")
    grad = np.zeros(mask.shape, np.result_type(grad_output, mask))
    for index in np.ndindex(mask.shape):
        grad[index] = grad_output[index] * mask[index]
    return grad


def early_stopping(losses, patience, min_delta=0.0):
    _expect(len(losses) > 0 and patience >= 1 and min_delta >= 0, f"patience: {patience}, min_delta: {min_delta}")
    best, best_epoch, waited = math.inf, 0, 0
    for epoch, loss in enumerate(losses):
        if loss < best - min_delta:
            best, best_epoch, waited = loss, epoch, 0
        elif epoch > 0:
            waited += 1
            if waited >= patience:
                break
    return epoch, best_epoch
