"""Stage s08 as a good student might write it, from its README and stub alone: what the slips are cut into."""

import numpy as np


def check_table(X):
    if np.ndim(X) != 2 or len(X) == 0:
        raise ValueError(f"X: shape {np.shape(X)}, expected (samples, features) with at least one sample")


def check_labels(labels):
    if np.ndim(labels) != 1 or np.size(labels) == 0:
        raise ValueError(f"labels: shape {np.shape(labels)}, expected (samples,) with at least one sample")


def missing_mask(X):
    return np.isnan(X)


def most_frequent(values):
    found, counts = np.unique(values, return_counts=True)
    return found[np.argmax(counts)]


def impute(X, strategy, fill_value=0.0):
    check_table(X)
    if strategy not in ("mean", "median", "most_frequent", "constant"):
        raise ValueError(f"strategy: {strategy!r}, expected 'mean', 'median', 'most_frequent' or 'constant'")
    filled = np.array(X)
    for j in range(filled.shape[1]):
        column = filled[:, j]
        missing = np.isnan(column)
        present = column[~missing]
        if strategy == "constant":
            value = fill_value
        elif len(present) == 0:
            raise ValueError(f"X: feature {j} has no value that is present, expected at least one")
        elif strategy == "mean":
            value = np.mean(present)
        elif strategy == "median":
            value = np.median(present)
        else:
            value = most_frequent(present)
        filled[missing, j] = value
    return filled


def label_encode(labels):
    check_labels(labels)
    classes = np.unique(labels)
    return np.searchsorted(classes, labels), classes


def one_hot_encode(labels, classes):
    check_labels(labels)
    labels, classes = np.asarray(labels), np.asarray(classes)
    same = labels[:, np.newaxis] == classes[np.newaxis, :]
    if not np.all(same.any(axis=1)):
        raise ValueError(f"labels: {labels[~same.any(axis=1)][0]!r} is not among classes")
    return same.astype(np.float64)


def min_max_scale(X):
    check_table(X)
    X = np.asarray(X)
    low, high = X.min(axis=0), X.max(axis=0)
    span = high - low
    span[span == 0] = 1
    return (X - low) / span, low, span


def quartiles(X):
    q25, q75 = np.percentile(X, [25, 75], axis=0)
    return q25, q75


def robust_scale(X):
    check_table(X)
    X = np.asarray(X)
    middle = np.median(X, axis=0)
    q25, q75 = quartiles(X)
    iqr = np.where(q75 == q25, 1.0, q75 - q25).astype(X.dtype)
    return (X - middle) / iqr, middle, iqr


def detect_outliers_iqr(X, factor=1.5):
    check_table(X)
    if not factor >= 0:
        raise ValueError(f"factor: {factor}, expected 0 or more")
    values = np.asarray(X)
    q25, q75 = quartiles(values)
    reach = factor * (q75 - q25)
    below = values < q25 - reach
    above = values > q75 + reach
    return below | above


def correlation_filter(X, threshold=0.9):
    check_table(X)
    if not 0 < threshold < 1:
        raise ValueError(f"threshold: {threshold}, expected a number between 0 and 1")
    X = np.asarray(X, dtype=np.float64)
    directions = X - X.mean(axis=0)
    directions[:, np.ptp(X, axis=0) == 0] = 0
    lengths = np.sqrt(np.sum(directions**2, axis=0))
    lengths[lengths == 0] = 1
    directions = directions / lengths
    kept = []
    for j in range(X.shape[1]):
        r = [directions[:, i] @ directions[:, j] for i in kept]
        if all(abs(each) <= threshold for each in r):
            kept.append(j)
    return np.array(kept, dtype=int)


def pad_sequences(sequences, max_length=None, pad_value=0):
    if len(sequences) == 0:
        raise ValueError("sequences: there is none, expected at least one")
    rows = [np.asarray(each) for each in sequences]
    if any(row.ndim != 1 for row in rows):
        raise ValueError("sequences: one has not one axis")
    filled = [row for row in rows if len(row) > 0]
    if not filled:
        raise ValueError("sequences: all are empty")
    if max_length is None:
        max_length = max(len(row) for row in rows)
    if max_length < 1:
        raise ValueError(f"max_length: {max_length}, expected 1 or more")
    dtype = np.result_type(*[row.dtype for row in filled])
    array = np.full((len(rows), max_length), pad_value, dtype=dtype)
    mask = np.zeros((len(rows), max_length), dtype=bool)
    for i, row in enumerate(rows):
        length = min(len(row), max_length)
        array[i, :length] = row[:length]
        mask[i, :length] = True
    return array, mask


def iterate_minibatches(X, y, batch_size, rng):
    check_table(X)
    if np.ndim(y) == 0 or len(y) != len(X):
        raise ValueError(f"y: shape {np.shape(y)}, expected one entry for each of {len(X)} samples")
    if batch_size < 1:
        raise ValueError(f"batch_size: {batch_size}, expected 1 or more")
    order = rng.permutation(len(X))
    for start in range(0, len(X), batch_size):
        batch = order[start : start + batch_size]
        yield X[batch], y[batch]
