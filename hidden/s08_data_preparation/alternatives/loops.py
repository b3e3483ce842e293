"""Everything by loops over samples and features, with Python's own sort, dict and sum."""

import math

import numpy as np


def _check(X):
    if X.ndim != 2 or len(X) == 0:
        raise ValueError(f"X: shape {X.shape}, expected (samples, features)")


def missing_mask(X):
    mask = np.zeros(X.shape, dtype=bool)
    for place in np.ndindex(X.shape):
        mask[place] = X[place] != X[place]
    return mask


def impute(X, strategy, fill_value=0.0):
    _check(X)
    if strategy not in ("mean", "median", "most_frequent", "constant"):
        raise ValueError(f"strategy: {strategy}, expected one of the four")
    result = X.copy()
    for j in range(X.shape[1]):
        values = sorted(float(v) for v in X[:, j] if not math.isnan(v))
        if strategy == "constant":
            value = fill_value
        elif not values:
            raise ValueError(f"X: feature {j} has no value")
        elif strategy == "mean":
            value = math.fsum(values) / len(values)
        elif strategy == "median":
            value = (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2
        else:
            counts = {}
            for v in values:
                counts[v] = counts.get(v, 0) + 1
            value = max(counts, key=counts.get)
        for i in range(len(X)):
            if math.isnan(X[i, j]):
                result[i, j] = value
    return result


def _label_list(labels):
    labels = np.asarray(labels)
    if labels.ndim != 1 or len(labels) == 0:
        raise ValueError("labels: expected (samples,)")
    return labels.tolist()


def label_encode(labels):
    labels = _label_list(labels)
    classes = sorted(set(labels))
    places = {label: place for place, label in enumerate(classes)}
    return np.array([places[label] for label in labels]), np.array(classes)


def one_hot_encode(labels, classes):
    labels, classes = _label_list(labels), np.asarray(classes).tolist()
    table = np.zeros((len(labels), len(classes)))
    for i, label in enumerate(labels):
        table[i, classes.index(label)] = 1.0  # index raises ValueError
    return table


def _scaled(X, middles, spreads):
    spreads = [1 if spread == 0 else spread for spread in spreads]
    Z = np.empty(X.shape, np.result_type(X, 1.0))
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            Z[i, j] = (X[i, j] - middles[j]) / spreads[j]
    return Z, np.array(middles, Z.dtype), np.array(spreads, Z.dtype)


def min_max_scale(X):
    _check(X)
    return _scaled(X, [min(column) for column in X.T], [max(column) - min(column) for column in X.T])


def _percentile(column, share):
    values = sorted(column)
    below = math.floor(share * (len(values) - 1))
    above = min(below + 1, len(values) - 1)
    return values[below] + (values[above] - values[below]) * (share * (len(values) - 1) - below)


def robust_scale(X):
    _check(X)
    lower, middle, upper = ([_percentile(column, share) for column in X.T] for share in (0.25, 0.5, 0.75))
    return _scaled(X, middle, [b - a for a, b in zip(lower, upper)])


def detect_outliers_iqr(X, factor=1.5):
    _check(X)
    if factor < 0:
        raise ValueError(f"factor: {factor}, expected at least 0")
    mask = np.zeros(X.shape, bool)
    for j, column in enumerate(X.T):
        lower, upper = _percentile(column, 0.25), _percentile(column, 0.75)
        for i, value in enumerate(column):
            mask[i, j] = value < lower - factor * (upper - lower) or value > upper + factor * (upper - lower)
    return mask


def _correlation(a, b):
    if min(a) == max(a) or min(b) == max(b):
        return 0.0
    a = [v - math.fsum(a) / len(a) for v in a]
    b = [v - math.fsum(b) / len(b) for v in b]
    return math.fsum(x * y for x, y in zip(a, b)) / math.hypot(*a) / math.hypot(*b)


def correlation_filter(X, threshold=0.9):
    _check(X)
    if threshold <= 0 or threshold >= 1:
        raise ValueError(f"threshold: {threshold}, expected between 0 and 1")
    columns, kept = X.T.tolist(), []
    for j in range(len(columns)):
        if all(abs(_correlation(columns[j], columns[k])) <= threshold for k in kept):
            kept.append(j)
    return np.array(kept)


def pad_sequences(sequences, max_length=None, pad_value=0):
    sequences = [np.asarray(sequence) for sequence in sequences]
    for sequence in sequences:
        if sequence.ndim != 1:
            raise ValueError("sequences: expected one axis each")
    longest = max((len(sequence) for sequence in sequences), default=0)
    if longest == 0:
        raise ValueError("sequences: expected one that is not empty")
    length = longest if max_length is None else max_length
    if length < 1:
        raise ValueError(f"max_length: {max_length}, expected at least 1")
    dtype = None
    for sequence in sequences:
        if len(sequence):
            dtype = sequence.dtype if dtype is None else np.promote_types(dtype, sequence.dtype)
    array, mask = np.empty((len(sequences), length), dtype), np.empty((len(sequences), length), bool)
    for i, sequence in enumerate(sequences):
        for j in range(length):
            mask[i, j] = j < len(sequence)
            array[i, j] = sequence[j] if j < len(sequence) else pad_value
    return array, mask


def iterate_minibatches(X, y, batch_size, rng):
    _check(X)
    if y.ndim == 0 or len(y) != len(X):
        raise ValueError(f"y: shape {y.shape}, expected {len(X)} entries")
    if batch_size < 1:
        raise ValueError(f"batch_size: {batch_size}, expected at least 1")
    order = list(range(len(X)))
    for last in range(len(X) - 1, 0, -1):  # Fisher and Yates
        other = int(rng.integers(0, last + 1))
        order[last], order[other] = order[other], order[last]
    while order:
        batch, order = order[:batch_size], order[batch_size:]
        yield np.array([X[i] for i in batch]), np.array([y[i] for i in batch])
