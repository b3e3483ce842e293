"""Data preparation: holes filled, words made numbers, scales made alike, outliers found, and batches cut.

X holds one sample in each row and one feature in each column, (samples, features), in floating numbers. Except for
missing_mask and impute, X has no missing values: they are imputed before.

For all functions: arguments are never changed; float32 arrays in give float32 arrays out, unless said otherwise; bad
shapes and values raise ValueError with a sentence that names the argument.
"""

import numpy as np


def _require_table(X):
    if X.ndim != 2 or X.shape[0] == 0:
        raise ValueError(f"X: shape {X.shape}, expected (samples, features) with one sample or more")


def _as_labels(labels):
    labels = np.asarray(labels)
    if labels.ndim != 1 or labels.size == 0:
        raise ValueError(f"labels: shape {labels.shape}, expected (samples,) with one label or more")
    return labels


def missing_mask(X):
    """Return a boolean array of X's shape: True where a value is missing, which is where it is NaN.

    X is an array of any shape. Infinite values are not missing.

    Example:

    >>> missing_mask(np.array([[1.0, np.nan], [0.0, 4.0]]))
    array([[False,  True],
           [False, False]])
    """
    return np.isnan(X)


def impute(X, strategy, fill_value=0.0):
    """Return X with each missing value replaced by what its feature suggests.

    X is (samples, features), and so is the result, of X's dtype. NaN marks what is missing. strategy says what goes
    there, and only the values of the same feature that are present count: their "mean", their "median" (of an even
    number, the mean of the two in the middle), or the "most_frequent" of them (of equally frequent ones, the smallest);
    or "constant", which is fill_value everywhere. fill_value has no effect on the other strategies.

    Raises ValueError when X has not two axes, has no sample, strategy is none of the four, or a feature has no value
    that is present and strategy is not "constant".

    Example:

    >>> impute(np.array([[1.0, 8.0], [np.nan, 6.0], [3.0, np.nan]]), "mean")
    array([[1., 8.],
           [2., 6.],
           [3., 7.]])
    """
    _require_table(X)
    missing = missing_mask(X)
    if strategy == "constant":
        return np.where(missing, fill_value, X)
    statistics = {"mean": np.mean, "median": np.median, "most_frequent": _most_frequent}
    if strategy not in statistics:
        raise ValueError(f"strategy: {strategy!r}, expected mean, median, most_frequent or constant")
    if np.any(np.all(missing, axis=0)):
        raise ValueError(f"X: a feature without any value, expected one or more for strategy {strategy!r}")
    fill = [statistics[strategy](X[~missing[:, feature], feature]) for feature in range(X.shape[1])]
    return np.where(missing, fill, X)


def _most_frequent(values):
    distinct, counts = np.unique(values, return_counts=True)
    return distinct[np.argmax(counts)]  # sorted, and argmax takes the first


def label_encode(labels):
    """Return (codes, classes): a whole number for each label, and the labels that the numbers stand for.

    labels is a list or an array of text or of numbers, one for each sample. classes is an array of the different
    labels in ascending order (text by the codes of its characters, so that "Z" is before "a"), of text or of numbers
    as np.unique gives it and not of objects, and codes is an array of integers, (samples,), such that classes[codes]
    is labels.

    Raises ValueError when labels has not one axis, or is empty.

    Example:

    >>> codes, classes = label_encode(["red", "green", "red"])
    >>> codes.tolist(), classes.tolist()
    ([1, 0, 1], ['green', 'red'])
    """
    classes, codes = np.unique(_as_labels(labels), return_inverse=True)
    return codes, classes


def one_hot_encode(labels, classes):
    """Return a table of float64 with one row for each label: 1.0 in the column of its class, 0.0 in all others.

    labels is a list or an array of text or of numbers, one for each sample; classes, a list or an array, has each class
    once, and column j of the result, (samples, classes), is about classes[j], in whatever order classes are.

    Raises ValueError when labels has not one axis, is empty, or has a label that is not among classes.

    Example:

    >>> one_hot_encode(["red", "green", "red"], ["green", "red", "blue"])
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 1., 0.]])
    """
    hot = _as_labels(labels)[:, np.newaxis] == classes
    if not np.all(np.any(hot, axis=1)):
        raise ValueError(f"labels: {labels}, expected each to be one of {classes}")
    return hot.astype(float)


def min_max_scale(X):
    """Return (Z, minimum, span): each feature moved and stretched so that it reaches from 0 to 1.

    X and Z are (samples, features), minimum and span (features,); span is the largest value minus the smallest. Of a
    feature that is the same number in all samples, Z is 0 and span is 1, so that (new - minimum) / span works for any
    new sample. A new sample may well be scaled to less than 0 or more than 1.

    Raises ValueError when X has not two axes, or has no sample.

    Formula: z = (x - min) / (max - min).
    Example:

    >>> min_max_scale(np.array([[1.0, 5.0], [2.0, 5.0], [5.0, 5.0]]))
    (array([[0.  , 0.  ],
           [0.25, 0.  ],
           [1.  , 0.  ]]), array([1., 5.]), array([4., 1.]))
    """
    _require_table(X)
    minimum, span = np.min(X, axis=0), _no_zero(np.ptp(X, axis=0))
    return (X - minimum) / span, minimum, span


def _no_zero(spread):
    return np.where(spread == 0, 1, spread)


def robust_scale(X):
    """Return (Z, median, iqr): each feature without its median, divided by its interquartile range.

    X and Z are (samples, features), median and iqr (features,). iqr is the 75th percentile minus the 25th, as
    np.percentile gives them (linear between two neighbours). Where both are the same number, iqr is 1, so that
    (new - median) / iqr works for any new sample.

    Raises ValueError when X has not two axes, or has no sample.

    Formula: z = (x - median) / (q75 - q25).
    Example:

    >>> robust_scale(np.array([[1.0], [2.0], [3.0], [4.0], [99.0]]))
    (array([[-1. ],
           [-0.5],
           [ 0. ],
           [ 0.5],
           [48. ]]), array([3.]), array([2.]))
    """
    _require_table(X)
    lower, median, upper = np.percentile(X, [25, 50, 75], axis=0).astype(np.result_type(X, 1.0))
    iqr = _no_zero(upper - lower)
    return (X - median) / iqr, median, iqr


def detect_outliers_iqr(X, factor=1.5):
    """Return a boolean array of X's shape: True where a value is far outside the middle half of its feature.

    X is (samples, features). The middle half of a feature reaches from its 25th to its 75th percentile, as
    np.percentile gives them; an outlier is below or above it by more than factor times its width. A value exactly at
    the distance is none.

    Raises ValueError when X has not two axes, has no sample, or factor is below 0.

    Formula: x < q25 - factor (q75 - q25) or x > q75 + factor (q75 - q25).
    Source: J. W. Tukey, Exploratory Data Analysis (1977).
    Example:

    >>> detect_outliers_iqr(np.array([[1.0], [2.0], [3.0], [4.0], [99.0]])).ravel()
    array([False, False, False, False,  True])
    """
    _require_table(X)
    if factor < 0:
        raise ValueError(f"factor: {factor}, expected at least 0")
    lower, upper = np.percentile(X, [25, 75], axis=0)
    reach = factor * (upper - lower)
    return np.logical_or(np.less(X, lower - reach), np.greater(X, upper + reach))


def correlation_filter(X, threshold=0.9):
    """Return the columns of the features to keep, ascending: those that repeat no feature kept before them.

    X is (samples, features). The features are taken in their order; one is kept unless its correlation with a feature
    that was kept before is, in size, above threshold: -0.95 is as much a repetition as 0.95. One that was dropped
    speaks against no other. A feature that is the same number in all samples has the correlation 0 with every other.
    The result is an array of integers, and X[:, result] is what remains. A feature far away from 0 is no worse: with a
    mean a hundred million times its spread, its correlations are right to six digits.

    Raises ValueError when X has not two axes, has no sample, or threshold is not between 0 and 1 (neither of the two).

    Formula: r = sum (a - mean(a)) (b - mean(b)) / sqrt(sum (a - mean(a))^2 sum (b - mean(b))^2).
    Example:

    >>> correlation_filter(np.array([[1.0, 2.0, 7.0], [2.0, 4.0, 1.0], [3.0, 6.0, 5.0]]))
    array([0, 2])
    """
    _require_table(X)
    if not 0 < threshold < 1:
        raise ValueError(f"threshold: {threshold}, expected between 0 and 1")
    repeats = np.abs(_correlations(X)) > threshold
    kept = []
    for feature in range(X.shape[1]):
        if not np.any(repeats[feature, kept]):
            kept.append(feature)
    return np.array(kept)


def _correlations(X):
    constant = np.ptp(X, axis=0) == 0  # centring a constant may leave 1e-17, which correlates with anything
    centred = np.where(constant, 0, X - np.mean(X, axis=0))
    unit = centred / _no_zero(np.linalg.norm(centred, axis=0))
    return unit.T @ unit


def pad_sequences(sequences, max_length=None, pad_value=0):
    """Return (array, mask): sequences of different lengths as the rows of one array, and which entries are real.

    sequences is a list of lists or of arrays with one axis. array and mask are (sequences, max_length), where
    max_length is the length of the longest sequence unless given. A shorter sequence is followed by pad_value, of a
    longer one the first max_length entries are kept. mask is boolean, True for what comes from a sequence. array has
    the dtype of the sequences (integers stay integers), for which neither an empty sequence nor pad_value counts; so
    pad_value is a number that this dtype holds (of uint8 sequences not -1, of integers not 0.5).

    Raises ValueError when there is no sequence, all are empty, one has not one axis, or max_length is below 1.

    Example:

    >>> array, mask = pad_sequences([[5, 3, 0], [7]])
    >>> array
    array([[5, 3, 0],
           [7, 0, 0]])
    >>> mask
    array([[ True,  True,  True],
           [ True, False, False]])
    """
    rows = [np.asarray(sequence) for sequence in sequences]
    if any(row.ndim != 1 for row in rows) or not any(row.size for row in rows):
        raise ValueError("sequences: expected one or more with one axis, and not all empty")
    if max_length is None:
        max_length = max(row.size for row in rows)
    if max_length < 1:
        raise ValueError(f"max_length: {max_length}, expected at least 1")
    shape, dtype = (len(rows), max_length), np.result_type(*(row for row in rows if row.size))
    array, mask = np.full(shape, pad_value, dtype), np.zeros(shape, bool)
    for line, row in enumerate(rows):
        kept = row[:max_length]
        array[line, : kept.size] = kept
        mask[line, : kept.size] = True
    return array, mask


def iterate_minibatches(X, y, batch_size, rng):
    """Yield (X_batch, y_batch) until every sample was in one batch, in random order.

    X is (samples, features), y has one entry for each sample, (samples,) or (samples, ...). Each batch has batch_size
    samples, and the last one what is left; each sample comes with its own entry of y. rng is a np.random.Generator;
    each order is equally likely, the same state gives the same batches, and each call draws a new order. This is a
    generator: batches are made when they are asked for.

    Raises ValueError, at the latest when the first batch is asked for, when X has not two axes, has no sample, y has
    not one entry for each sample, or batch_size is below 1.

    Example:

    >>> X, y = np.array([[1.0], [2.0], [3.0]]), np.array([10.0, 20.0, 30.0])
    >>> for X_batch, y_batch in iterate_minibatches(X, y, 2, np.random.default_rng(0)):
    ...     print(X_batch.shape, bool(np.all(X_batch[:, 0] * 10 == y_batch)))
    (2, 1) True
    (1, 1) True
    """
    _require_table(X)
    if y.shape[:1] != X.shape[:1]:
        raise ValueError(f"y: shape {y.shape}, expected {len(X)} entries, one for each sample of X")
    if batch_size < 1:
        raise ValueError(f"batch_size: {batch_size}, expected at least 1")
    order = rng.permutation(len(X))
    for start in range(0, len(X), batch_size):
        batch = order[start : start + batch_size]
        yield X[batch], y[batch]
