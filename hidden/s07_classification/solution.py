"""Classification: from scores to probabilities, the loss and its gradient, how to judge a classifier, and one to fit.

The lesson and the checklist are in this stage's README.md, the conventions of all stages in stages/README.md. A logit
is a score of any size, before the sigmoid or the softmax. Losses take logits, not probabilities, use the natural
logarithm and are means over the samples; their gradients are with respect to the logits. A class is a whole number
from 0 up. Arguments are never changed; results are finite and right for logits from -1000 to 1000.
"""

import numpy as np


def sigmoid(z):
    """Return the probability that belongs to a logit: 1 / (1 + exp(-z)), element by element.

    Args:
        z: a number or an array of any shape, of floats or integers, signed or unsigned.

    Returns:
        Values from 0 to 1, of the shape of z; float32 for float32. Small values keep their digits: sigmoid(-40) is
        4.248e-18, not 0.

    Source: Cox 1958, "The regression analysis of binary sequences".

    Example:
        >>> sigmoid(np.array([-2.0, 0.0, 2.0])).round(4)
        array([0.1192, 0.5   , 0.8808])
    """
    return np.exp(-np.logaddexp(0, -1.0 * z))  # unsigned whole numbers have no -z


def softmax(z, axis=-1):
    """Return the probabilities that belong to logits: exp(z), divided by its sum along an axis.

    Args:
        z: logits, an array of one axis or more, of floats or integers, signed or unsigned.
        axis: the axis along which the probabilities add up to 1, counted from the end where negative.

    Returns:
        Values from 0 to 1, of the shape of z; float32 for float32.

    Source: Bridle 1990, "Training stochastic model recognition algorithms as networks can lead to maximum mutual
    information estimation of parameters".

    Example:
        >>> softmax(np.array([1.0, 2.0, 3.0])).round(4)
        array([0.09  , 0.2447, 0.6652])
    """
    return np.exp(_log_probabilities(z, axis))


def log_softmax(z, axis=-1):
    """Return the logarithms of softmax: z, less the logarithm of the sum of exp(z) along an axis.

    Args:
        z: logits, an array of one axis or more, of floats or integers, signed or unsigned.
        axis: the axis along which the probabilities add up to 1, counted from the end where negative.

    Returns:
        Values of 0 or below, of the shape of z; float32 for float32. They are finite also where the probability is too
        small for a float: for logits 0 and 1000 they are -1000 and 0.

    Source: Goodfellow, Bengio and Courville 2016, "Deep learning", section 6.2.2.3.

    Example:
        >>> log_softmax(np.array([1.0, 2.0, 3.0])).round(4)
        array([-2.4076, -1.4076, -0.4076])
    """
    return _log_probabilities(z, axis)


def binary_cross_entropy(logits, targets):
    """Return the mean over the samples of -log p, with p the probability that the model gives to the true class.

    The probability of class 1 is sigmoid(logit), that of class 0 is 1 - sigmoid(logit).

    Args:
        logits: one score for each sample, shape (samples,), at least one.
        targets: the true classes 0 and 1 (integers, floats or booleans), shape (samples,).

    Returns:
        One number, 0 or above.

    Raises:
        ValueError: logits has not one axis or no sample, targets has another shape, or a target is neither 0 nor 1.

    Source: Cox 1958.

    Example:
        >>> round(float(binary_cross_entropy(np.array([2.0, -1.0]), np.array([1, 1]))), 4)
        0.7201
    """
    _require_binary("targets", targets, "logits", logits)
    return np.mean(np.logaddexp(0, np.where(targets == 1, -logits, logits)))


def binary_cross_entropy_gradient(logits, targets):
    """Return the gradient of binary_cross_entropy with respect to logits: (sigmoid(logits) - targets) / samples.

    Args:
        logits: one score for each sample, shape (samples,), at least one.
        targets: the true classes 0 and 1 (integers, floats or booleans), shape (samples,).

    Returns:
        Shape (samples,); float32 for float32 logits.

    Raises:
        ValueError: logits has not one axis or no sample, targets has another shape, or a target is neither 0 nor 1.

    Source: Cox 1958.

    Example:
        >>> binary_cross_entropy_gradient(np.array([2.0, -1.0]), np.array([1, 1])).round(4)
        array([-0.0596, -0.3655])
    """
    _require_binary("targets", targets, "logits", logits)
    return (sigmoid(logits) - (targets == 1)) / len(logits)


def cross_entropy(logits, targets):
    """Return the mean over the samples of -log p, with p the softmax probability of the true class.

    Args:
        logits: a score for each sample and class, shape (samples, classes), at least one sample.
        targets: the true classes, integers from 0 to classes - 1, shape (samples,).

    Returns:
        One number, 0 or above.

    Raises:
        ValueError: logits has not two axes or no sample, targets is not of shape (samples,) or not of integers, or a
            target is not from 0 to classes - 1.

    Source: Bishop 2006, "Pattern recognition and machine learning", section 4.3.4.

    Example:
        >>> round(float(cross_entropy(np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]), np.array([2, 0]))), 4)
        0.7531
    """
    _require_logits(logits, targets)
    return -np.mean(_log_probabilities(logits, -1)[np.arange(len(logits)), targets])


def cross_entropy_gradient(logits, targets):
    """Return the gradient of cross_entropy with respect to logits: (softmax(logits) - one-hot targets) / samples.

    Args:
        logits: a score for each sample and class, shape (samples, classes), at least one sample.
        targets: the true classes, integers from 0 to classes - 1, shape (samples,).

    Returns:
        Shape (samples, classes), each row adding up to 0; float32 for float32 logits.

    Raises:
        ValueError: logits has not two axes or no sample, targets is not of shape (samples,) or not of integers, or a
            target is not from 0 to classes - 1.

    Source: Bishop 2006, section 4.3.4.

    Example:
        >>> cross_entropy_gradient(np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]), np.array([2, 0])).round(4)
        array([[ 0.045 ,  0.1224, -0.1674],
               [-0.3333,  0.1667,  0.1667]])
    """
    _require_logits(logits, targets)
    return _logit_gradient(logits, targets)


def accuracy(y_true, y_pred):
    """Return the share of samples whose predicted class is the true one.

    Args:
        y_true: the true classes, integers, shape (samples,), at least one.
        y_pred: the predicted classes, integers, shape (samples,).

    Returns:
        One number from 0 to 1.

    Raises:
        ValueError: y_true has not one axis or no sample, or y_pred has another shape.

    Source: Hastie, Tibshirani and Friedman 2009, "The elements of statistical learning", section 7.2: 1 - accuracy is
    the mean 0-1 loss.

    Example:
        >>> float(accuracy(np.array([0, 2, 1, 1]), np.array([0, 2, 2, 1])))
        0.75
    """
    _require_pairs("y_true", y_true, "y_pred", y_pred)
    return np.mean(y_true == y_pred)


def confusion_matrix(y_true, y_pred, num_classes):
    """Return how many samples of each true class (row) were predicted as each class (column).

    Args:
        y_true: the true classes, integers from 0 to num_classes - 1, shape (samples,), at least one. As for y_pred, any
            integer type will do, uint8 too.
        y_pred: the predicted classes, integers from 0 to num_classes - 1, shape (samples,).
        num_classes: how many classes there are; one that no sample has gets a row and a column of zeros.

    Returns:
        Integers, shape (num_classes, num_classes): true class first, predicted class second.

    Raises:
        ValueError: y_true has not one axis or no sample, y_pred has another shape, one of them is not of integers, or a
            class is not from 0 to num_classes - 1.

    Source: Provost and Kohavi 1998, "Glossary of terms".

    Example:
        >>> confusion_matrix(np.array([0, 2, 1, 1, 0]), np.array([0, 2, 2, 1, 0]), 3)
        array([[2, 0, 0],
               [0, 1, 1],
               [0, 0, 1]])
    """
    _require_pairs("y_true", y_true, "y_pred", y_pred)
    _require_classes("y_true", y_true, num_classes)
    _require_classes("y_pred", y_pred, num_classes)
    counts = np.zeros((num_classes, num_classes), np.int64)
    np.add.at(counts, (y_true, y_pred), 1)
    return counts


def precision_recall_f1(y_true, y_pred, average):
    """Return (precision, recall, f1), averaged over the classes that occur in y_true or in y_pred.

    For one class, hits are the samples that have it and were given it. precision = hits / samples given the class;
    recall = hits / samples that have the class; f1 = 2 precision recall / (precision + recall). A quotient whose
    divisor is 0 counts as 0.

    Args:
        y_true: the true classes, integers, shape (samples,), at least one.
        y_pred: the predicted classes, integers, shape (samples,).
        average: "macro" computes the three for each class and returns the mean of each of them, so that all classes
            weigh the same (f1 is the mean of the f1 of the classes); "micro" adds up hits, samples given and samples
            that have over the classes first, and computes the three once from these sums.

    Returns:
        Three numbers from 0 to 1.

    Raises:
        ValueError: y_true has not one axis or no sample, y_pred has another shape, or average is neither "macro" nor
            "micro".

    Source: van Rijsbergen 1979, "Information retrieval", chapter 7; Opitz and Burst 2019, "Macro F1 and macro F1", on
    the mean of f1.

    Example:
        >>> y_true, y_pred = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 0, 1, 1, 0, 0])
        >>> [round(float(value), 4) for value in precision_recall_f1(y_true, y_pred, "macro")]
        [0.3333, 0.3889, 0.3571]
    """
    _require_pairs("y_true", y_true, "y_pred", y_pred)
    if average not in ("macro", "micro"):
        raise ValueError(f'average: {average!r}, expected "macro" or "micro"')
    classes = np.unique([y_true, y_pred])[:, np.newaxis]
    has, given = y_true == classes, y_pred == classes
    counts = np.array([(has & given).sum(axis=1), given.sum(axis=1), has.sum(axis=1)])
    hits, num_given, num_has = counts if average == "macro" else counts.sum(axis=1)
    precision, recall = hits / np.maximum(num_given, 1), hits / np.maximum(num_has, 1)  # without samples no hits either
    return precision.mean(), recall.mean(), (2 * hits / (num_given + num_has)).mean()


def roc_auc(y_true, scores):
    """Return the area under the ROC curve: how often a sample of class 1 scores above one of class 0.

    It is the share among all pairs of one sample of class 1 and one of class 0; a pair of equal scores counts as half.

    Args:
        y_true: the true classes 0 and 1 (integers, floats or booleans), shape (samples,), both occurring.
        scores: a score for each sample, larger for class 1, shape (samples,): logits, probabilities or any numbers,
            signed or unsigned, however close.

    Returns:
        One number from 0 to 1.

    Raises:
        ValueError: y_true has not one axis, scores has another shape, a class is neither 0 nor 1, or one of the two
            does not occur.

    Source: Hanley and McNeil 1982, "The meaning and use of the area under a receiver operating characteristic (ROC)
    curve".

    Example:
        >>> float(roc_auc(np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.4, 0.8])))
        0.875
    """
    _require_binary("y_true", y_true, "scores", scores)
    negative, positive = np.sort(scores[y_true == 0]), scores[y_true == 1]
    if len(negative) == 0 or len(positive) == 0:
        raise ValueError(f"y_true: only class {int(y_true[0])} occurs, expected both 0 and 1")
    below = np.searchsorted(negative, positive)
    up_to = np.searchsorted(negative, positive, side="right")
    return np.mean(below + up_to) / (2 * len(negative))


def fit_softmax_regression(X, y, num_classes, learning_rate, num_iterations):
    """Return (weights, bias, losses): a linear classifier after num_iterations steps against the gradient, from zeros.

    The logits are X weights + bias. Every step takes learning_rate times the gradient of the cross-entropy over all
    samples from weights and bias at once.

    Args:
        X: samples, shape (samples, features), at least one sample.
        y: the true classes, integers from 0 to num_classes - 1, shape (samples,).
        num_classes: how many classes there are.
        learning_rate: size of the steps, above 0.
        num_iterations: how many steps, 0 or more.

    Returns:
        (weights, bias, losses): weights of shape (features, num_classes) and bias of shape (num_classes,), both float32
        for float32 X and otherwise float64; losses, a list or array of num_iterations + 1 numbers: the cross-entropy
        before the first step, and after each.

    Raises:
        ValueError: X has not two axes or no sample, y is not of shape (samples,) or not of integers, a class is not
            from 0 to num_classes - 1, learning_rate is not above 0, or num_iterations is below 0.

    Source: Bishop 2006, section 4.3.4.

    Example:
        >>> X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
        >>> weights, bias, losses = fit_softmax_regression(X, y, 2, 1.0, 1)
        >>> weights, bias, [round(float(loss), 4) for loss in losses]
        (array([[-0.5,  0.5]]), array([0., 0.]), [0.6931, 0.3133])
    """
    if X.ndim != 2:
        raise ValueError(f"X: shape {X.shape}, expected (samples, features)")
    if learning_rate <= 0 or num_iterations < 0:
        message = f"learning_rate: {learning_rate}, expected above 0; num_iterations: {num_iterations}, at least 0"
        raise ValueError(message)
    kind = np.result_type(X, 0.0)
    weights, bias = np.zeros((X.shape[1], num_classes), kind), np.zeros(num_classes, kind)
    losses = []
    for step in range(num_iterations + 1):
        logits = X @ weights + bias
        losses.append(cross_entropy(logits, y))
        if step < num_iterations:
            gradient = _logit_gradient(logits, y)
            weights -= learning_rate * X.T @ gradient
            bias -= learning_rate * gradient.sum(axis=0)
    return weights, bias, losses


def _log_probabilities(z, axis):
    shifted = z - 1.0 * np.max(z, axis=axis, keepdims=True)  # unsigned whole numbers would wrap round below 0
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


def _logit_gradient(logits, targets):
    gradient = np.exp(_log_probabilities(logits, -1))
    gradient[np.arange(len(logits)), targets] -= 1
    return gradient / len(logits)


def _require_pairs(name, values, other_name, others):
    if values.ndim != 1 or len(values) == 0 or others.shape != values.shape:
        shapes = f"{name}: shape {values.shape}, {other_name}: shape {others.shape}"
        raise ValueError(f"{shapes}, expected (samples,) for both, with at least one sample")


def _require_binary(name, classes, other_name, others):
    _require_pairs(name, classes, other_name, others)
    if not ((classes == 0) | (classes == 1)).all():
        raise ValueError(f"{name}: classes {np.unique(classes)}, expected only 0 and 1")


def _require_classes(name, classes, num_classes):
    if not np.issubdtype(classes.dtype, np.integer) or classes.min() < 0 or classes.max() >= num_classes:
        raise ValueError(f"{name}: {classes.dtype} {np.unique(classes)}, expected integers from 0 to {num_classes - 1}")


def _require_logits(logits, targets):
    if logits.ndim != 2 or len(logits) == 0 or targets.shape != logits.shape[:1]:
        shapes = f"logits: shape {logits.shape}, targets: shape {targets.shape}"
        raise ValueError(f"{shapes}, expected (samples, classes) and (samples,), with at least one sample")
    _require_classes("targets", targets, logits.shape[1])
