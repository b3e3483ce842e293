"""One number, one sample and one pair at a time, with the math module."""

import math

import numpy as np


def _kind(z):
    dtype = np.asarray(z).dtype
    return dtype if dtype.kind == "f" else np.dtype(float)


def _sigmoid(v):
    if v >= 0:
        return 1 / (1 + math.exp(-v))
    return math.exp(v) / (1 + math.exp(v))


def _log_sum(row):
    largest = max(row)
    return largest + math.log(sum(math.exp(v - largest) for v in row))


def sigmoid(z):
    if not isinstance(z, np.ndarray):
        return _sigmoid(float(z))
    result = np.empty(z.shape, _kind(z))
    for index in np.ndindex(z.shape):
        result[index] = _sigmoid(float(z[index]))
    return result


def log_softmax(z, axis=-1):
    result = np.empty(z.shape, _kind(z))
    rows, out = np.moveaxis(z, axis, -1), np.moveaxis(result, axis, -1)
    for index in np.ndindex(rows.shape[:-1]):
        row = [float(v) for v in rows[index]]
        total = _log_sum(row)
        for k, v in enumerate(row):
            out[index + (k,)] = v - total
    return result


def softmax(z, axis=-1):
    return np.exp(log_softmax(z, axis))


def _check_vectors(first, second):
    if first.ndim != 1 or second.ndim != 1 or len(first) != len(second) or len(first) == 0:
        raise ValueError("expected two vectors of one length, not empty")


def _check_bits(labels):
    for label in labels:
        if label not in (0, 1):
            raise ValueError(f"label {label}, expected 0 or 1")


def _check_classes(labels, num_classes):
    if not np.issubdtype(labels.dtype, np.integer):
        raise ValueError(f"labels of {labels.dtype}, expected integers")
    for label in labels:
        if not 0 <= label < num_classes:
            raise ValueError(f"label {label}, expected 0 to {num_classes - 1}")


def binary_cross_entropy(logits, targets):
    _check_vectors(logits, targets)
    _check_bits(targets)
    total = 0.0
    for z, y in zip(logits.tolist(), targets.tolist(), strict=True):
        towards = z if y == 1 else -z
        total += max(-towards, 0) + math.log1p(math.exp(-abs(towards)))
    return total / len(logits)


def binary_cross_entropy_gradient(logits, targets):
    _check_vectors(logits, targets)
    _check_bits(targets)
    result = np.empty(logits.shape, _kind(logits))
    for n, (z, y) in enumerate(zip(logits.tolist(), targets.tolist(), strict=True)):
        result[n] = (_sigmoid(z) - float(y)) / len(logits)
    return result


def _check_logits(logits, targets):
    if logits.ndim != 2:
        raise ValueError(f"logits of shape {logits.shape}, expected two axes")
    _check_vectors(targets, np.zeros(len(logits)))
    _check_classes(targets, logits.shape[1])


def cross_entropy(logits, targets):
    _check_logits(logits, targets)
    total = 0.0
    for row, target in zip(logits.tolist(), targets.tolist(), strict=True):
        total += _log_sum(row) - row[target]
    return total / len(logits)


def cross_entropy_gradient(logits, targets):
    _check_logits(logits, targets)
    result = softmax(logits)
    for n, target in enumerate(targets):
        result[n, target] -= 1
    result /= len(logits)
    return result


def accuracy(y_true, y_pred):
    _check_vectors(y_true, y_pred)
    return sum(int(a == b) for a, b in zip(y_true, y_pred, strict=True)) / len(y_true)


def confusion_matrix(y_true, y_pred, num_classes):
    _check_vectors(y_true, y_pred)
    _check_classes(y_true, num_classes)
    _check_classes(y_pred, num_classes)
    counts = np.zeros((num_classes, num_classes), dtype=int)
    for a, b in zip(y_true, y_pred, strict=True):
        counts[a, b] += 1
    return counts


def precision_recall_f1(y_true, y_pred, average):
    _check_vectors(y_true, y_pred)
    if average == "micro":
        share = accuracy(y_true, y_pred)
        return share, share, share
    if average != "macro":
        raise ValueError(f"average {average!r}")
    classes = set(y_true.tolist()) | set(y_pred.tolist())
    sums = [0.0, 0.0, 0.0]
    for c in classes:
        hits = given = has = 0
        for a, b in zip(y_true, y_pred, strict=True):
            hits += a == c and b == c
            given += b == c
            has += a == c
        precision = hits / given if given else 0.0
        recall = hits / has if has else 0.0
        f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
        sums = [s + v for s, v in zip(sums, (precision, recall, f1), strict=True)]
    return [s / len(classes) for s in sums]


def roc_auc(y_true, scores):
    _check_vectors(y_true, scores)
    _check_bits(y_true)
    won = pairs = 0
    for a, high in zip(y_true, scores, strict=True):
        for b, low in zip(y_true, scores, strict=True):
            if a == 1 and b == 0:
                pairs += 1
                won += 1 if high > low else 0.5 if high == low else 0
    if pairs == 0:
        raise ValueError("one class only")
    return won / pairs


def fit_softmax_regression(X, y, num_classes, learning_rate, num_iterations):
    if X.ndim != 2 or learning_rate <= 0 or num_iterations < 0:
        raise ValueError("X, learning_rate or num_iterations")
    weights, bias = np.zeros((X.shape[1], num_classes), _kind(X)), np.zeros(num_classes, _kind(X))
    losses = []
    for iteration in range(num_iterations + 1):
        logits = np.array([[row @ weights[:, k] + bias[k] for k in range(num_classes)] for row in X])
        logits = logits.reshape(len(X), num_classes)
        losses.append(cross_entropy(logits, y))
        if iteration < num_iterations:
            gradient = cross_entropy_gradient(logits, y)
            for n, row in enumerate(X):
                for k in range(num_classes):
                    weights[:, k] -= learning_rate * gradient[n, k] * row
                    bias[k] -= learning_rate * gradient[n, k]
    return weights, bias, losses
