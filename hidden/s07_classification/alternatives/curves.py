"""Two classes as a softmax over two columns, the area under the drawn curve, and the bias as one more weight."""

import numpy as np


def sigmoid(z):
    return np.reciprocal(1 + np.exp(np.asarray(z) * -1.0)) if np.ndim(z) else 1 / (1 + np.exp(-z))


def _log_sum(z, axis):
    return np.expand_dims(np.logaddexp.reduce(z * np.ones_like(z), axis=axis), axis)


def log_softmax(z, axis=-1):
    z = z if z.dtype.kind == "f" else z.astype(float)
    return z - _log_sum(z, axis)


def softmax(z, axis=-1):
    return np.exp(log_softmax(z, axis))


def _two_columns(logits, targets):
    if logits.ndim != 1 or targets.shape != logits.shape or logits.size < 1:
        raise ValueError("logits and targets: expected (samples,)")
    if ((targets != 0) & (targets != 1)).any():
        raise ValueError("targets: expected 0 and 1")
    return np.stack([np.zeros_like(logits), logits], axis=1), targets.astype(np.intp)


def binary_cross_entropy(logits, targets):
    return cross_entropy(*_two_columns(logits, targets))


def binary_cross_entropy_gradient(logits, targets):
    return cross_entropy_gradient(*_two_columns(logits, targets))[:, 1]


def _check(logits, targets):
    if logits.ndim != 2 or targets.ndim != 1 or not 0 < logits.shape[0] == targets.shape[0]:
        raise ValueError("logits (samples, classes), targets (samples,)")
    if not isinstance(targets.flat[0], np.integer) or targets.min() < 0 or targets.max() > logits.shape[1] - 1:
        raise ValueError("targets: expected classes")


def cross_entropy(logits, targets):
    _check(logits, targets)
    true = np.take_along_axis(logits, targets[:, None].astype(np.intp), axis=1)
    return (_log_sum(logits, 1) - true).mean()


def cross_entropy_gradient(logits, targets):
    _check(logits, targets)
    columns = softmax(logits.T, axis=0)
    np.subtract.at(columns, (targets, np.arange(targets.size)), 1)
    return columns.T / targets.size


def _pairs(first, second):
    if not (first.ndim == second.ndim == 1 and first.size == second.size > 0):
        raise ValueError("expected two vectors of one size")
    return np.stack([first, second])


def accuracy(y_true, y_pred):
    return 1 - np.not_equal(*_pairs(y_true, y_pred)).mean()


def confusion_matrix(y_true, y_pred, num_classes):
    pairs = _pairs(y_true, y_pred)
    whole = y_true.dtype.kind in "iu" and y_pred.dtype.kind in "iu"
    if not whole or pairs.min() < 0 or pairs.max() >= num_classes:
        raise ValueError("expected classes")
    classes = np.arange(num_classes)[:, None]
    return (y_true == classes).astype(int) @ (y_pred == classes).astype(int).T


def precision_recall_f1(y_true, y_pred, average):
    pairs = _pairs(y_true, y_pred)
    if average == "micro":
        return (np.equal(*pairs).mean(),) * 3
    if average != "macro":
        raise ValueError("average")
    rows = []
    for each in np.unique(pairs):
        true, guess = pairs == each
        hits = np.sum(true & guess)
        rows.append([hits / max(guess.sum(), 1), hits / max(true.sum(), 1), hits / (0.5 * (true.sum() + guess.sum()))])
    return tuple(np.array(rows).mean(axis=0))


def roc_auc(y_true, scores):
    _pairs(y_true, scores)
    positive, negative = scores[y_true == 1], scores[y_true == 0]
    if positive.size + negative.size != scores.size or positive.size * negative.size == 0:
        raise ValueError("y_true: expected 0 and 1, both")
    thresholds = np.append(np.unique(scores)[::-1], -np.inf)
    hit_rate = np.array([0.0] + [np.mean(positive >= t) for t in thresholds])
    false_alarms = np.array([0.0] + [np.mean(negative >= t) for t in thresholds])
    return np.sum(np.diff(false_alarms) * (hit_rate[1:] + hit_rate[:-1]) / 2)


def fit_softmax_regression(X, y, num_classes, learning_rate, num_iterations):
    if X.ndim != 2 or learning_rate <= 0 or num_iterations < 0:
        raise ValueError("X, learning_rate or num_iterations")
    kind = X.dtype if X.dtype.kind == "f" else np.dtype(float)
    wide = np.concatenate([X, np.ones((len(X), 1))], axis=1).astype(kind)
    both = np.zeros((wide.shape[1], num_classes), dtype=kind, order="F")
    losses = [cross_entropy(wide @ both, y)]
    while len(losses) <= num_iterations:
        both = both - learning_rate * (cross_entropy_gradient(wide @ both, y).T @ wide).T
        losses.append(cross_entropy(wide @ both, y))
    return both[:-1], both[-1], np.array(losses)
