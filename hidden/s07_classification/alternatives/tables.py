"""One-hot tables and einsum, counts by bincount, averages from the confusion matrix, and the area from ranks."""

import numpy as np


def _like(values, z):
    z = np.asarray(z)
    return values.astype(z.dtype if z.dtype.kind == "f" else np.float64)


def sigmoid(z):
    z = _like(np.asarray(z), z)
    small = np.exp(-np.abs(z))
    return np.where(z >= 0, 1, small) / (1 + small)


def softmax(z, axis=-1):
    z = _like(z, z)
    exponentials = np.exp(z - z.max(axis, keepdims=True))
    exponentials /= exponentials.sum(axis, keepdims=True)
    return exponentials


def log_softmax(z, axis=-1):
    z = np.swapaxes(_like(z, z), axis, -1)
    largest = z.max(-1)[..., None]
    result = (z - largest) - np.log(np.einsum("...k->...", np.exp(z - largest)))[..., None]
    return np.swapaxes(result, axis, -1)


def _columns(*vectors):
    if any(v.ndim != 1 for v in vectors) or len({v.size for v in vectors}) != 1 or vectors[0].size == 0:
        raise ValueError(f"shapes {[v.shape for v in vectors]}, expected one (samples,)")


def _signs(logits, targets):
    _columns(logits, targets)
    if np.setdiff1d(targets, [0, 1]).size:
        raise ValueError("targets: expected 0 and 1")
    return _like(np.where(targets, -1, 1), logits)


def binary_cross_entropy(logits, targets):
    against = _signs(logits, targets) * logits
    return np.sum(np.maximum(against, 0) + np.log1p(np.exp(-np.abs(against)))) / logits.size


def binary_cross_entropy_gradient(logits, targets):
    signs = _signs(logits, targets)
    return signs * sigmoid(signs * logits) / logits.size


def _one_hot(classes, num_classes):
    if classes.dtype.kind not in "iu" or (classes < 0).any() or (classes >= num_classes).any():
        raise ValueError(f"classes: expected integers from 0 to {num_classes - 1}")
    return classes[:, None] == np.arange(num_classes)


def _table(logits, targets):
    if logits.ndim != 2:
        raise ValueError("logits: expected two axes")
    _columns(targets, np.empty(logits.shape[0]))
    return _like(_one_hot(targets, logits.shape[1]), logits)


def cross_entropy(logits, targets):
    table = _table(logits, targets)
    return -np.einsum("nk,nk->", table, log_softmax(logits)) / logits.shape[0]


def cross_entropy_gradient(logits, targets):
    table = _table(logits, targets)
    return (softmax(logits) - table) / logits.shape[0]


def accuracy(y_true, y_pred):
    _columns(y_true, y_pred)
    return np.count_nonzero(y_true == y_pred) / y_true.size


def confusion_matrix(y_true, y_pred, num_classes):
    _columns(y_true, y_pred)
    _one_hot(y_true, num_classes), _one_hot(y_pred, num_classes)
    cells = y_true.astype(np.int64) * num_classes + y_pred
    return np.bincount(cells, minlength=num_classes**2).reshape(num_classes, num_classes)


def precision_recall_f1(y_true, y_pred, average):
    _columns(y_true, y_pred)
    if average not in {"macro", "micro"}:
        raise ValueError(f"average: {average}")
    classes, codes = np.unique(np.concatenate([y_true, y_pred]), return_inverse=True)
    counts = confusion_matrix(codes[: y_true.size], codes[y_true.size :], classes.size)
    hits, given, has = np.diag(counts), counts.sum(0), counts.sum(1)
    if average == "micro":
        hits, given, has = (np.array([v.sum()]) for v in (hits, given, has))
    with np.errstate(all="ignore"):
        precision, recall = np.nan_to_num(hits / given), np.nan_to_num(hits / has)
        f1 = np.nan_to_num(2 * precision * recall / (precision + recall))
    return np.array([v.mean() for v in (precision, recall, f1)]).tolist()


def roc_auc(y_true, scores):
    _columns(y_true, scores)
    if set(np.unique(y_true).tolist()) != {0, 1}:
        raise ValueError("y_true: expected both 0 and 1, and nothing else")
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    positive = y_true == 1
    num_positive = positive.sum()
    won = ranks[positive].sum() - num_positive * (num_positive + 1) / 2
    return won / (num_positive * (y_true.size - num_positive))


def fit_softmax_regression(X, y, num_classes, learning_rate, num_iterations):
    if not (X.ndim == 2 and learning_rate > 0 and num_iterations >= 0):
        raise ValueError("X, learning_rate or num_iterations")
    weights = _like(np.zeros((X.shape[1], num_classes)), X)
    bias, losses = _like(np.zeros(num_classes), X), np.empty(num_iterations + 1)
    losses[0] = cross_entropy(X @ weights + bias, y)
    for step in range(num_iterations):
        gradient = cross_entropy_gradient(np.einsum("nf,fk->nk", X, weights) + bias, y)
        weights = weights - learning_rate * np.einsum("nf,nk->fk", X, gradient)
        bias = bias - learning_rate * np.einsum("nk->k", gradient)
        losses[step + 1] = cross_entropy(X @ weights + bias, y)
    return weights, bias, losses
