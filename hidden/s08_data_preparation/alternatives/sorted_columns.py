"""Each feature sorted once: order statistics by index, runs of equal values, residuals of a regression, random keys."""

import numpy as np


class _Column:
    """The present values of one feature, ascending."""

    def __init__(self, values):
        self.values = np.sort(values[~np.isnan(values)])  # NaN is left out

    def quantile(self, share):
        place = share * (self.values.size - 1)
        below = int(place)
        low, high = self.values[below], self.values[min(below + 1, self.values.size - 1)]
        return low if low == high else low * (1 - (place - below)) + high * (place - below)

    def longest_run(self):
        begins = np.flatnonzero(np.r_[True, np.diff(self.values) != 0])
        lengths = np.diff(np.r_[begins, self.values.size])
        return self.values[begins[lengths.argmax()]]


def _columns(X):
    if X.ndim != 2 or X.shape[0] < 1:
        raise ValueError(f"X: {X.shape}, expected a table with a sample")
    return [_Column(X[:, j]) for j in range(X.shape[1])]


def missing_mask(X):
    return ~(np.isfinite(X) | np.isinf(X))


def impute(X, strategy, fill_value=0.0):
    columns, result = _columns(X), np.array(X)
    fills = {
        "mean": lambda column: column.values.sum() / column.values.size,
        "median": lambda column: column.quantile(0.5),
        "most_frequent": _Column.longest_run,
        "constant": lambda column: fill_value,
    }
    if strategy not in fills:
        raise ValueError(f"strategy: {strategy}")
    for j, column in enumerate(columns):
        if not column.values.size and strategy != "constant":
            raise ValueError(f"X: nothing in feature {j}")
        np.copyto(result[:, j], fills[strategy](column), where=missing_mask(X[:, j]), casting="same_kind")
    return result


def _checked(labels):
    labels = np.array(labels)
    if labels.shape != (labels.size,) or labels.size < 1:
        raise ValueError("labels: expected (samples,)")
    return labels


def label_encode(labels):
    labels = _checked(labels)
    order = np.argsort(labels, kind="stable")
    ordered = labels[order]
    begins = np.r_[True, ordered[1:] != ordered[:-1]]
    codes = np.empty(labels.size, int)
    codes[order] = np.cumsum(begins) - 1
    return codes, ordered[begins]


def one_hot_encode(labels, classes):
    labels = _checked(labels)
    columns = [[1.0 if label == each else 0.0 for label in labels.tolist()] for each in np.asarray(classes).tolist()]
    table = np.array(columns).T
    if np.any(table.sum(axis=1) != 1):
        raise ValueError("labels: one is no class")
    return table


def _scale(X, middle, spread):
    dtype = X.dtype if X.dtype.kind == "f" else np.float64
    middle, spread = np.array(middle, dtype), np.array([each or 1 for each in spread], dtype)
    return np.divide(np.subtract(X, middle), spread), middle, spread


def min_max_scale(X):
    columns = _columns(X)
    low = [column.values[0] for column in columns]
    return _scale(X, low, [column.values[-1] - column.values[0] for column in columns])


def robust_scale(X):
    columns = _columns(X)
    spread = [column.quantile(0.75) - column.quantile(0.25) for column in columns]
    return _scale(X, [column.quantile(0.5) for column in columns], spread)


def detect_outliers_iqr(X, factor=1.5):
    if not factor >= 0:
        raise ValueError(f"factor: {factor}")
    ends = np.array([(column.quantile(0.25), column.quantile(0.75)) for column in _columns(X)])
    width = ends[:, 1] - ends[:, 0]
    outside = np.maximum(ends[:, 0] - X, X - ends[:, 1])
    return outside > factor * width


def correlation_filter(X, threshold=0.9):
    """Compare r^2, the share of the variance that a straight line through a kept feature explains."""
    _columns(X)
    if not 0 < threshold < 1:
        raise ValueError(f"threshold: {threshold}")
    kept = []
    for j in range(X.shape[1]):
        if not any(_explained(X[:, k], X[:, j]) > threshold**2 for k in kept):
            kept.append(j)
    return np.array(kept)


def _explained(x, y):
    if x.max() == x.min() or y.max() == y.min():
        return 0.0
    x, y = (x - x.mean()) / np.ptp(x), (y - y.mean()) / np.ptp(y)
    slope = np.dot(x, y) / np.dot(x, x)
    return 1 - np.sum((y - slope * x) ** 2) / np.sum(y**2)


def pad_sequences(sequences, max_length=None, pad_value=0):
    rows = [np.asarray(sequence) for sequence in sequences]
    if not all(row.ndim == 1 for row in rows) or sum(row.size for row in rows) == 0:
        raise ValueError("sequences: expected lists, not all empty")
    if max_length is not None and max_length < 1:
        raise ValueError(f"max_length: {max_length}")
    length = max_length or max(row.size for row in rows)
    dtype = np.concatenate([row for row in rows if row.size]).dtype
    cut = [row[:length].astype(dtype) for row in rows]
    array = np.stack([np.r_[row, np.full(length - row.size, pad_value, dtype)] for row in cut])
    mask = np.stack([np.repeat([True, False], [row.size, length - row.size]) for row in cut])
    return array, mask


def iterate_minibatches(X, y, batch_size, rng):
    _columns(X)
    if y.shape[:1] != (len(X),):
        raise ValueError(f"y: {y.shape}")
    if batch_size < 1:
        raise ValueError(f"batch_size: {batch_size}")
    order = np.argsort(rng.random(len(X)))
    while order.size:
        batch, order = order[:batch_size], order[batch_size:]
        yield X.take(batch, axis=0), y.take(batch, axis=0)
