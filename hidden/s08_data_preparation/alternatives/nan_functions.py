"""Whole tables at once: NumPy's NaN functions, quantiles, corrcoef, concatenation, and a shuffle in place."""

import numpy as np


def _table(X):
    if np.ndim(X) != 2 or not len(X):
        raise ValueError(f"X: shape {np.shape(X)}, expected (samples, features)")
    return X


def missing_mask(X):
    return X != X


def impute(X, strategy, fill_value=0.0):
    result = _table(X).copy()
    samples, features = np.nonzero(missing_mask(X))
    if strategy == "constant":
        result[samples, features] = fill_value
        return result
    if strategy not in {"mean", "median", "most_frequent"}:
        raise ValueError(f"strategy: {strategy!r}")
    if missing_mask(X).all(axis=0).any():
        raise ValueError("X: a feature without any value")
    if strategy == "mean":
        fill = np.nanmean(X, axis=0)
    elif strategy == "median":
        fill = np.nanmedian(X, axis=0)
    else:
        same = (X[:, np.newaxis] == X).sum(axis=1)  # how often each value occurs; NaN never does
        fill = np.where(same == same.max(axis=0), X, np.inf).min(axis=0)
    result[samples, features] = fill[features]
    return result


def _vector(labels):
    labels = np.asarray(labels)
    if labels.ndim != 1 or not labels.size:
        raise ValueError(f"labels: shape {labels.shape}, expected (samples,)")
    return labels


def label_encode(labels):
    labels = _vector(labels)
    classes = np.unique(labels)
    return np.searchsorted(classes, labels), classes


def one_hot_encode(labels, classes):
    labels, classes = _vector(labels), np.asarray(classes)
    if not np.isin(labels, classes).all():
        raise ValueError("labels: one that is no class")
    return np.eye(len(classes))[np.argmax(labels[:, np.newaxis] == classes, axis=1)]


def min_max_scale(X):
    low, high = np.min(_table(X), axis=0), np.max(X, axis=0)
    span = high - low
    span[span == 0] = 1
    return (X - low) / span, low, span


def robust_scale(X):
    median = np.median(_table(X), axis=0)
    iqr = np.quantile(X, 0.75, axis=0) - np.quantile(X, 0.25, axis=0)
    iqr = np.where(iqr == 0, np.ones_like(iqr), iqr).astype(median.dtype)
    return (X - median) / iqr, median, iqr


def detect_outliers_iqr(X, factor=1.5):
    if factor < 0:
        raise ValueError(f"factor: {factor}")
    lower, upper = np.quantile(_table(X), [0.25, 0.75], axis=0)
    return ~((X >= lower - factor * (upper - lower)) & (X <= upper + factor * (upper - lower)))


def correlation_filter(X, threshold=0.9):
    if not (threshold > 0 and threshold < 1):
        raise ValueError(f"threshold: {threshold}")
    flat = np.ptp(_table(X), axis=0) == 0
    strengths = np.zeros((X.shape[1], X.shape[1]))
    if not flat.all():
        changing = np.ix_(~flat, ~flat)
        strengths[changing] = np.abs(np.atleast_2d(np.corrcoef(X[:, ~flat], rowvar=False)))
    alive = np.ones(X.shape[1], bool)
    for feature in range(X.shape[1]):  # each survivor drops what comes after it
        if alive[feature]:
            alive[feature + 1 :] &= strengths[feature, feature + 1 :] <= threshold
    return np.flatnonzero(alive)


def pad_sequences(sequences, max_length=None, pad_value=0):
    rows = [np.asarray(sequence) for sequence in sequences]
    if any(row.ndim != 1 for row in rows):
        raise ValueError("sequences: expected one axis each")
    full = [row for row in rows if row.size]
    if not full:
        raise ValueError("sequences: nothing to pad")
    length = max(map(len, full)) if max_length is None else max_length
    if length < 1:
        raise ValueError(f"max_length: {max_length}")
    values = np.concatenate(full)
    lengths = np.array([len(row) for row in rows])
    starts = np.cumsum(lengths) - lengths
    places = np.arange(length)
    mask = places < lengths[:, np.newaxis]
    indices = np.minimum(starts[:, np.newaxis] + places, len(values) - 1)
    return np.where(mask, values[indices], np.asarray(pad_value, values.dtype)), mask


def iterate_minibatches(X, y, batch_size, rng):
    if np.shape(y)[:1] != np.shape(_table(X))[:1]:
        raise ValueError(f"y: shape {np.shape(y)}")
    if batch_size < 1:
        raise ValueError(f"batch_size: {batch_size}")
    order = np.arange(len(X))
    rng.shuffle(order)
    return ((X[part], y[part]) for part in np.split(order, range(batch_size, len(X), batch_size)))
