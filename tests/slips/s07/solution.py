"""Stage s07 as a good student might write it, from its README and stub alone: what the slips are cut into."""

import numpy as np


def as_float(values):
    """Return an array of floats: float32 stays, everything else becomes float64."""
    values = np.asarray(values)
    return values if values.dtype == np.float32 else values.astype(np.float64)


def check_vectors(first, second, names):
    if np.ndim(first) != 1 or np.size(first) == 0:
        raise ValueError(f"{names[0]}: shape {np.shape(first)}, expected (samples,) with at least one sample")
    if np.shape(second) != np.shape(first):
        raise ValueError(f"{names[1]}: shape {np.shape(second)}, expected that of {names[0]}, {np.shape(first)}")


def check_binary(targets, name="targets"):
    if not np.all((np.asarray(targets) == 0) | (np.asarray(targets) == 1)):
        raise ValueError(f"{name}: holds other values than 0 and 1")


def check_classes(classes, num_classes, name):
    classes = np.asarray(classes)
    if not np.issubdtype(classes.dtype, np.integer):
        raise ValueError(f"{name}: dtype {classes.dtype}, expected integers")
    if np.any(classes < 0) or np.any(classes >= num_classes):
        raise ValueError(f"{name}: holds classes that are not from 0 to {num_classes - 1}")


def check_logits(logits, targets):
    if np.ndim(logits) != 2 or len(logits) == 0:
        raise ValueError(f"logits: shape {np.shape(logits)}, expected (samples, classes) with at least one sample")
    if np.shape(targets) != (len(logits),):
        raise ValueError(f"targets: shape {np.shape(targets)}, expected ({len(logits)},)")
    check_classes(targets, np.shape(logits)[1], "targets")


def sigmoid(z):
    z = as_float(z)
    return np.exp(-np.logaddexp(0, -z))


def softmax(z, axis=-1):
    z = as_float(z)
    e = np.exp(z - np.max(z, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def log_softmax(z, axis=-1):
    z = as_float(z)
    shifted = z - np.max(z, axis=axis, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


def binary_cross_entropy(logits, targets):
    check_vectors(logits, targets, ("logits", "targets"))
    check_binary(targets)
    z, positive = as_float(logits), np.asarray(targets) == 1
    losses = np.where(positive, np.logaddexp(0, -z), np.logaddexp(0, z))
    return np.mean(losses)


def binary_cross_entropy_gradient(logits, targets):
    check_vectors(logits, targets, ("logits", "targets"))
    check_binary(targets)
    p = sigmoid(logits)
    return (p - (np.asarray(targets) == 1)) / len(p)


def cross_entropy(logits, targets):
    check_logits(logits, targets)
    log_p = log_softmax(logits)
    picked = log_p[np.arange(len(targets)), targets]
    return -np.mean(picked)


def cross_entropy_gradient(logits, targets):
    check_logits(logits, targets)
    gradient = softmax(logits)
    samples = len(gradient)
    gradient[np.arange(samples), targets] -= 1
    return gradient / samples


def accuracy(y_true, y_pred):
    check_vectors(y_true, y_pred, ("y_true", "y_pred"))
    return np.mean(np.asarray(y_true) == np.asarray(y_pred))


def confusion_matrix(y_true, y_pred, num_classes):
    check_vectors(y_true, y_pred, ("y_true", "y_pred"))
    check_classes(y_true, num_classes, "y_true")
    check_classes(y_pred, num_classes, "y_pred")
    table = np.zeros((num_classes, num_classes), dtype=int)
    for true, predicted in zip(y_true, y_pred, strict=True):
        table[true, predicted] += 1
    return table


def ratio(part, whole):
    return part / whole if whole != 0 else 0.0


def precision_recall_f1(y_true, y_pred, average):
    check_vectors(y_true, y_pred, ("y_true", "y_pred"))
    if average not in ("macro", "micro"):
        raise ValueError(f"average: {average!r}, expected 'macro' or 'micro'")
    y_true, y_pred = np.asarray(y_true), np.asarray(y_pred)
    counts = []
    for k in np.union1d(y_true, y_pred):
        hits = np.sum((y_true == k) & (y_pred == k))
        given = np.sum(y_pred == k)
        have = np.sum(y_true == k)
        counts.append((hits, given, have))
    if average == "micro":
        counts = [tuple(np.sum(counts, axis=0))]
    scores = []
    for hits, given, have in counts:
        precision, recall = ratio(hits, given), ratio(hits, have)
        scores.append((precision, recall, ratio(2 * precision * recall, precision + recall)))
    return tuple(np.mean(scores, axis=0))


def roc_auc(y_true, scores):
    check_vectors(y_true, scores, ("y_true", "scores"))
    check_binary(y_true, "y_true")
    y_true, scores = np.asarray(y_true), np.asarray(scores)
    positives, negatives = scores[y_true == 1], scores[y_true == 0]
    if len(positives) == 0 or len(negatives) == 0:
        raise ValueError("y_true: only one class occurs, expected both 0 and 1")
    won = np.sum(positives[:, np.newaxis] > negatives)
    tied = np.sum(positives[:, np.newaxis] == negatives)
    return (won + tied / 2) / (len(positives) * len(negatives))


def fit_softmax_regression(X, y, num_classes, learning_rate, num_iterations):
    if np.ndim(X) != 2 or len(X) == 0:
        raise ValueError(f"X: shape {np.shape(X)}, expected (samples, features) with at least one sample")
    if np.shape(y) != (len(X),):
        raise ValueError(f"y: shape {np.shape(y)}, expected ({len(X)},)")
    check_classes(y, num_classes, "y")
    if not learning_rate > 0:
        raise ValueError(f"learning_rate: {learning_rate}, expected a number above 0")
    if num_iterations < 0:
        raise ValueError(f"num_iterations: {num_iterations}, expected 0 or more")
    X = as_float(X)
    W = np.zeros((X.shape[1], num_classes), dtype=X.dtype)
    b = np.zeros(num_classes, dtype=X.dtype)
    losses = [cross_entropy(X @ W + b, y)]
    for _ in range(num_iterations):
        G = cross_entropy_gradient(X @ W + b, y)
        W = W - learning_rate * (X.T @ G)
        b = b - learning_rate * G.sum(axis=0)
        losses.append(cross_entropy(X @ W + b, y))
    return W, b, losses
