"""Regularisation: penalties on weights, models fitted under them, scores on samples not seen, dropout, early stopping.

X holds one sample in each row and one feature in each column, (samples, features); y holds one target for each sample,
(samples,). A model is weights, (features,), and a bias, one number. Samples and epochs are counted from 0.

For all functions: arguments are never changed; float32 arrays in give float32 arrays out; bad shapes and values raise
ValueError with a sentence that names the argument. What a model is fitted to may be whole numbers.
"""

import numpy as np


def _require_not_negative(**values):
    for name, value in values.items():
        if value < 0:
            raise ValueError(f"{name}: {value}, expected at least 0")


def _require_samples(X, y):
    if X.ndim != 2 or X.shape[0] == 0:
        raise ValueError(f"X: shape {X.shape}, expected (samples, features) with one sample or more")
    if y.shape != X.shape[:1]:
        raise ValueError(f"y: shape {y.shape}, expected {X.shape[:1]}, one target for each sample of X")


def ridge_penalty(weights, alpha):
    """Return the ridge penalty, alpha times the sum of the squared weights, as one number.

    weights is an array of any shape, of one layer or one model; alpha, 0 or more, is how strong the penalty is.

    Raises ValueError when alpha is below 0.

    Formula: alpha sum w^2, without a factor 1/2 (Hoerl and Kennard 1970).
    Example:

    >>> float(ridge_penalty(np.array([1.0, -2.0, 0.0]), 0.5))
    2.5
    """
    _require_not_negative(alpha=alpha)
    return alpha * np.sum(weights**2)


def ridge_gradient(weights, alpha):
    """Return the gradient of ridge_penalty with respect to the weights, of their shape.

    Raises ValueError when alpha is below 0.

    Formula: 2 alpha w.
    Example:

    >>> ridge_gradient(np.array([1.0, -2.0, 0.5]), 0.5)
    array([ 1. , -2. ,  0.5])
    """
    _require_not_negative(alpha=alpha)
    return 2 * alpha * weights


def lasso_penalty(weights, alpha):
    """Return the lasso penalty, alpha times the sum of the absolute weights, as one number.

    weights is an array of any shape; alpha, 0 or more, is how strong the penalty is.

    Raises ValueError when alpha is below 0.

    Formula: alpha sum |w| (Tibshirani 1996).
    Example:

    >>> float(lasso_penalty(np.array([1.0, -2.0, 0.0]), 0.5))
    1.5
    """
    _require_not_negative(alpha=alpha)
    return alpha * np.sum(np.abs(weights))


def soft_threshold(z, threshold):
    """Return z moved towards 0 by threshold, and 0 where that would pass 0.

    z is a number or an array of any shape, threshold one number, 0 or more; the result has the shape of z. It is the w
    that makes 1/2 (w - z)^2 + threshold |w| least.

    Raises ValueError when threshold is below 0.

    Formula: sign(z) max(|z| - threshold, 0).
    Example:

    >>> soft_threshold(np.array([3.0, -1.5, 0.5]), 1.0)
    array([ 2. , -0.5,  0. ])
    """
    _require_not_negative(threshold=threshold)
    return np.sign(z) * np.maximum(np.abs(z) - threshold, 0)


def elastic_net_gradient(weights, alpha, l1_ratio):
    """Return the gradient of the elastic net, a mixture of both penalties of this module, of the shape of weights.

    The penalty is l1_ratio * lasso_penalty(weights, alpha) + (1 - l1_ratio) * ridge_penalty(weights, alpha). At a
    weight of exactly 0, where |w| has a corner, the slope of |w| is taken as 0.

    weights is an array of any shape, alpha 0 or more, l1_ratio from 0 (only ridge) to 1 (only lasso).

    Raises ValueError when alpha is below 0, or l1_ratio is not from 0 to 1.

    Formula: alpha (l1_ratio sign(w) + 2 (1 - l1_ratio) w) (Zou and Hastie 2005).
    Example:

    >>> elastic_net_gradient(np.array([1.0, -2.0, 0.0]), 0.5, 0.25)
    array([ 0.875, -1.625,  0.   ])
    """
    _require_not_negative(alpha=alpha)
    if not 0 <= l1_ratio <= 1:
        raise ValueError(f"l1_ratio: {l1_ratio}, expected from 0 to 1")
    return alpha * (l1_ratio * np.sign(weights) + 2 * (1 - l1_ratio) * weights)


def fit_ridge(X, y, alpha):
    """Return the (weights, bias) that make the sum of squared errors plus the ridge penalty least.

    X is (samples, features), y is (samples,), alpha 0 or more; weights is (features,), bias one number. The bias is not
    penalised. With alpha above 0 the answer is unique, also for features that depend on each other, that never change
    (their weight is 0), or that are more than there are samples; with alpha = 0 any least-squares solution will do.
    Neither a feature far away from 0 nor targets far away from 0 spoil the digits: with means a million times the
    spreads, weights and predictions are right to six digits.

    Raises ValueError when X has not two axes, has no sample, y is not one number for each sample, or alpha is below 0.

    Formula: the least of sum (X w + b - y)^2 + alpha sum w^2 has (X^T X + alpha I) w = X^T y, of X and y without their
    means, and b = mean(y) - mean(X) w.
    Example:

    >>> weights, bias = fit_ridge(np.array([[-1.0], [0.0], [1.0]]), np.array([1.0, 3.0, 5.0]), 2.0)
    >>> weights.round(6), round(float(bias), 6)
    (array([1.]), 3.0)
    """
    _require_samples(X, y)
    _require_not_negative(alpha=alpha)
    X_mean, y_mean = np.mean(X, axis=0), np.mean(y)
    centred = X - X_mean
    # One more sample for each weight, of target 0, whose squared error is alpha w^2.
    penalty_rows = alpha**0.5 * np.eye(X.shape[1], dtype=centred.dtype)
    rows = np.concatenate([centred, penalty_rows])
    weights = np.linalg.lstsq(rows, np.pad(y - y_mean, (0, X.shape[1])), rcond=None)[0]
    return weights, y_mean - X_mean @ weights


def fit_lasso(X, y, alpha, num_iterations):
    """Return the (weights, bias) that coordinate descent finds for half the mean squared error plus the lasso penalty.

    X is (samples, features), y is (samples,), alpha 0 or more. Both are taken without their means, and all weights
    begin at 0. An iteration visits the features once, in the order of their columns, and sets the weight of each to
    what is best while all others stay. A feature that never changes (its largest number is its smallest) keeps the
    weight 0, one that changes ever so little does not, and one far away from 0 does not spoil the digits, as in
    fit_ridge. The bias, which is not penalised, is found at the end. weights is
    (features,), bias one number.

    Raises ValueError when X has not two axes, has no sample, y is not one number for each sample, alpha is below 0, or
    num_iterations is below 1.

    Formula: the objective is 1/(2n) sum (X w + b - y)^2 + alpha sum |w|. With x_j the feature without its mean and r
    what the other features leave of y without its mean, w_j = soft_threshold(mean(x_j r), alpha) / mean(x_j^2); then
    b = mean(y) - mean(X) w (Friedman, Hastie and Tibshirani 2010).
    Example:

    >>> weights, bias = fit_lasso(np.array([[-1.0], [0.0], [1.0]]), np.array([1.0, 3.0, 5.0]), 1.0, 5)
    >>> weights.round(6), round(float(bias), 6)
    (array([0.5]), 3.0)
    """
    _require_samples(X, y)
    _require_not_negative(alpha=alpha)
    if num_iterations < 1:
        raise ValueError(f"num_iterations: {num_iterations}, expected at least 1")
    X_mean, y_mean = np.mean(X, axis=0), np.mean(y)
    centred, errors = X - X_mean, y - y_mean
    weights = np.zeros_like(centred[0])
    for _ in range(num_iterations):
        for j in np.flatnonzero(np.ptp(X, axis=0)):
            feature = centred[:, j]
            errors = errors + feature * weights[j]
            weights[j] = soft_threshold(np.mean(feature * errors), alpha) / np.mean(feature**2)
            errors = errors - feature * weights[j]
    return weights, y_mean - X_mean @ weights


def _require_folds(num_samples, num_folds):
    if not 2 <= num_folds <= num_samples:
        raise ValueError(f"num_folds: {num_folds}, expected from 2 to the number of samples, which is {num_samples}")


def _deal(order, num_folds):
    parts = [order[start::num_folds] for start in range(num_folds)]
    return [(np.setdiff1d(order, part), part) for part in parts]


def k_fold_indices(num_samples, num_folds, rng):
    """Return a list of num_folds pairs (train, test) of sample numbers, for cross-validation.

    train and test are one-dimensional arrays of integers, in any order. Each of the samples 0 to num_samples - 1 is in
    exactly one of the test sets; the sizes of the test sets differ by at most 1; train is every sample that is not in
    its test. rng is a np.random.Generator, which decides which samples come together: each way is equally likely.

    Raises ValueError when num_folds is below 2 or above num_samples.

    Source: Stone 1974.
    Example:

    >>> folds = k_fold_indices(5, 2, np.random.default_rng(0))
    >>> sorted(len(test) for _, test in folds), sorted(int(i) for _, test in folds for i in test)
    ([2, 3], [0, 1, 2, 3, 4])
    """
    _require_folds(num_samples, num_folds)
    return _deal(rng.permutation(num_samples), num_folds)


def stratified_k_fold_indices(y, num_folds, rng):
    """Return pairs (train, test) like k_fold_indices, with each class spread evenly over the test sets.

    y is (samples,), the class of each sample as a whole number; the classes need not be 0, 1, 2. What holds for
    k_fold_indices holds here, and besides, the number of samples of a class in the test sets differs by at most 1. rng
    decides which samples of a class come together: within a class each way is equally likely.

    Raises ValueError when y has not one axis, or num_folds is below 2 or above the number of samples. A class may have
    fewer samples than there are folds.

    Example:

    >>> y = np.array([0, 0, 0, 0, 1, 1])
    >>> [sorted(int(y[i]) for i in test) for _, test in stratified_k_fold_indices(y, 2, np.random.default_rng(0))]
    [[0, 0, 1], [0, 0, 1]]
    """
    if y.ndim != 1:
        raise ValueError(f"y: shape {y.shape}, expected (samples,)")
    _require_folds(len(y), num_folds)
    order = rng.permutation(len(y))
    return _deal(order[np.argsort(y[order])], num_folds)


def cross_val_score(fit, score, X, y, folds):
    """Return the score of each fold, (folds,), of a model that was fitted without the fold's test samples.

    X is (samples, features), y is (samples,), folds a list of pairs (train, test) of sample numbers, as k_fold_indices
    gives. fit(X_train, y_train) returns a model, which may be anything; score(model, X_test, y_test) returns one
    number. Both are called once for each fold, in the order of the folds, with the rows as they are (whole numbers stay
    whole) in the order of the numbers.

    Raises ValueError when X has not two axes, has no sample, y is not one number for each sample, or folds is empty.

    Example:

    >>> X, y = np.zeros((4, 1)), np.array([1.0, 3.0, 5.0, 7.0])
    >>> folds = [(np.array([0, 1]), np.array([2, 3])), (np.array([2, 3]), np.array([0, 1]))]
    >>> cross_val_score(lambda X, y: np.mean(y), lambda model, X, y: np.max(np.abs(y - model)), X, y, folds)
    array([5., 5.])
    """
    _require_samples(X, y)
    if len(folds) == 0:
        raise ValueError("folds: empty, expected one pair (train, test) or more")
    return np.array([score(fit(X[train], y[train]), X[test], y[test]) for train, test in folds])


def dropout(x, rate, rng, training=True):
    """Return (y, mask): x with random entries set to 0 and the others scaled up, and the factors that did it.

    x is an array of numbers, of any shape; y and mask have its shape, and are floats in training, also where x holds
    integers. rate, from 0 to below 1, is the chance of each entry to be dropped, independently of all others. mask is 0
    where an entry is dropped and 1 / (1 - rate) where it is kept, so that the expected value of y is x ("inverted"
    dropout). rng is a np.random.Generator.

    With training=False nothing is dropped, scaled or drawn: y equals x and mask is all ones.

    Raises ValueError when rate is not from 0 to below 1.

    Formula: y = x mask (Srivastava et al. 2014).
    Example:

    >>> y, mask = dropout(np.ones(1000), 0.25, np.random.default_rng(0))
    >>> np.unique(y).round(4), bool(abs(np.mean(y) - 1) < 0.1)
    (array([0.    , 1.3333]), True)
    """
    if not 0 <= rate < 1:
        raise ValueError(f"rate: {rate}, expected from 0 to below 1")
    mask = np.ones_like(x)
    if training:
        mask = mask * (rng.random(x.shape) >= rate) / (1 - rate)
    return x * mask, mask


def dropout_backward(grad_output, mask):
    """Return the gradient of the loss with respect to the x of dropout, of its shape.

    grad_output is the gradient with respect to y, mask what dropout returned; both have the shape of x.

    Raises ValueError when the shapes differ.

    Formula: dL/dx = dL/dy mask.
    Example:

    >>> dropout_backward(np.array([3.0, 5.0, -1.0]), np.array([2.0, 0.0, 2.0]))
    array([ 6.,  0., -2.])
    """
    if grad_output.shape != mask.shape:
        raise ValueError(f"grad_output: shape {grad_output.shape}, expected {mask.shape}, the shape of mask")
    return grad_output * mask


def early_stopping(losses, patience, min_delta=0.0):
    """Return (stop_epoch, best_epoch) of a training that ends when the validation loss has not improved for a while.

    losses is a list or array of one validation loss for each epoch. An epoch improves if its loss is below that of the
    best epoch so far by more than min_delta; it is the best epoch then. The first epoch is the best one to begin with.
    stop_epoch is the first epoch that is patience epochs after the best one so far and does not improve either; where
    there is none, it is the last epoch. best_epoch is the best epoch up to there. Both are Python or NumPy integers. A
    loss of NaN never improves, and any finite loss improves on NaN.

    Raises ValueError when losses is empty, patience is below 1, or min_delta is below 0.

    Source: Prechelt 1998.
    Example:

    >>> early_stopping([5.0, 3.0, 4.0, 3.5, 1.0], patience=2)
    (3, 1)
    """
    if len(losses) == 0 or patience < 1:
        message = f"losses: {len(losses)} epochs, expected at least 1; patience: {patience}, expected at least 1"
        raise ValueError(message)
    _require_not_negative(min_delta=min_delta)
    best, best_epoch = losses[0], 0
    for epoch, loss in enumerate(losses):
        if loss < best - min_delta or np.isnan(best) > np.isnan(loss):
            best, best_epoch = loss, epoch
        if epoch - best_epoch == patience:
            return epoch, best_epoch
    return len(losses) - 1, best_epoch
