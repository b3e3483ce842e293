"""Wrong answers that learners of this stage give, and what each should read.

A wrong answer that differs from the solution in one step takes the solution's own function as the default of `right`.
"""

import itertools

import numpy as np

from grader.course.answers import mistake
from hidden.s06_linear_regression.solution import (
    _require_table,
    _require_targets,
    fit_gradient_descent,
    mse_gradient,
    mse_loss,
    normal_equation,
    polynomial_features,
    predict,
    r2_score,
    standardize,
    train_test_split,
)


@mistake(
    criterion="predict",
    replaces="predict",
    text="The bias is missing: every prediction is the weighted sum alone.",
    fix="Add the bias to every prediction.",
)
def without_bias(X, weights, bias, right=predict):
    return right(X, weights, 0)


@mistake(
    criterion="predict",
    replaces="predict",
    text="The bias was added to each feature's share, so it counts once for each feature.",
    fix="Add it once, after the sum over the features.",
)
def bias_for_each_feature(X, weights, bias, right=predict):
    return right(X, weights, bias * X.shape[-1])


@mistake(
    criterion="predict",
    replaces="predict",
    text="The predictions come back as a column, (samples, 1).",
    fix="Return one axis, (samples,): weights has one axis, so X @ weights has one, too.",
)
def column_of_predictions(X, weights, bias, right=predict):
    return right(X, weights, bias)[:, np.newaxis]


@mistake(
    criterion="predict",
    replaces="predict",
    text="Features and weights were multiplied by broadcasting, which takes any weights of length 1.",
    fix="Compare weights.shape with X.shape[1:] and raise ValueError where they differ.",
)
def stretched_weights(X, weights, bias):
    _require_table(X)
    return np.sum(X * weights, axis=1) + bias


@mistake(
    criterion="predict",
    replaces="predict",
    text="A table without samples, or with another number of axes, went through.",
    fix="Raise ValueError unless X.ndim is 2 and X has a sample or more.",
)
def any_table(X, weights, bias):
    if weights.shape != X.shape[-1:]:
        raise ValueError("weights: expected one number for each feature")
    return X @ weights + bias


@mistake(
    criterion="mse-loss",
    replaces="mse_loss",
    text="The squared errors were summed, not averaged.",
    fix="Divide the sum by the number of samples, or take np.mean.",
)
def summed_squares(y_true, y_pred, right=mse_loss):
    return right(y_true, y_pred) * y_true.size


@mistake(
    criterion="mse-loss",
    replaces="mse_loss",
    text="The mean of the squares was halved.",
    fix="This course's mean squared error has no factor 1/2; its gradient has a factor 2 instead.",
)
def halved_squares(y_true, y_pred, right=mse_loss):
    return right(y_true, y_pred) / 2


@mistake(
    criterion="mse-loss",
    replaces="mse_loss",
    text="The root of the mean squared error was returned.",
    fix="Leave the root out: it is another measure, RMSE.",
)
def root_of_mean_squares(y_true, y_pred, right=mse_loss):
    return np.sqrt(right(y_true, y_pred))


@mistake(
    criterion="mse-loss",
    replaces="mse_loss",
    text="Absolute errors were averaged, not their squares.",
    fix="Square each error before the mean.",
)
def absolute_errors(y_true, y_pred, right=mse_loss):
    right(y_true, y_pred)
    return np.mean(np.abs(y_pred - y_true))


@mistake(
    criterion="mse-loss",
    replaces="mse_loss",
    text="Targets and predictions of different shapes were stretched to fit: every target met every prediction.",
    fix="Compare y_true.shape with y_pred.shape, and raise ValueError where they differ.",
)
def broadcast_errors(y_true, y_pred):
    if y_true.ndim != 1 or y_true.size == 0:
        raise ValueError("y_true: expected a vector")
    return np.mean((y_pred - 1.0 * y_true) ** 2)


@mistake(
    criterion="mse-loss",
    replaces="mse_loss",
    text="The sum of the squares was divided by the number of samples less one.",
    fix="Divide by the number of samples, or take np.mean.",
)
def divided_by_one_less(y_true, y_pred, right=mse_loss):
    return right(y_true, y_pred) * y_true.size / max(y_true.size - 1, 1)


@mistake(
    criterion="mse-loss",
    replaces="mse_loss",
    text="Unsigned whole numbers (uint8) were subtracted as they are; differences below 0 and squares wrap round.",
    fix="Turn one of them into floats before you subtract: 1.0 * y_true.",
)
def unsigned_errors(y_true, y_pred, right=mse_loss):
    right(y_true, y_pred)
    return np.mean((y_pred - y_true) ** 2)


@mistake(
    criterion="mse-gradient",
    replaces="mse_gradient",
    text="The gradient has the wrong sign: the error was taken as y_true - y_pred.",
    fix="Differentiate (y_pred - y_true)^2: the error is y_pred - y_true.",
)
def gradient_uphill(X, y_true, y_pred, right=mse_gradient):
    grad_weights, grad_bias = right(X, y_true, y_pred)
    return -grad_weights, -grad_bias


@mistake(
    criterion="mse-gradient",
    replaces="mse_gradient",
    text="The factor 2 of the square's derivative is missing.",
    fix="The derivative of e^2 is 2 e, and this course's loss has no factor 1/2 to cancel it.",
)
def gradient_without_two(X, y_true, y_pred, right=mse_gradient):
    grad_weights, grad_bias = right(X, y_true, y_pred)
    return grad_weights / 2, grad_bias / 2


@mistake(
    criterion="mse-gradient",
    replaces="mse_gradient",
    text="The gradient was summed over the samples, not averaged.",
    fix="The loss is a mean, so both gradients are divided by the number of samples.",
)
def summed_gradient(X, y_true, y_pred, right=mse_gradient):
    grad_weights, grad_bias = right(X, y_true, y_pred)
    return grad_weights * len(X), grad_bias * len(X)


@mistake(
    criterion="mse-gradient",
    replaces="mse_gradient",
    text="Only the gradient of the weights was averaged; that of the bias is a sum.",
    fix="Divide both by the number of samples.",
)
def summed_bias_gradient(X, y_true, y_pred, right=mse_gradient):
    grad_weights, grad_bias = right(X, y_true, y_pred)
    return grad_weights, grad_bias * len(X)


@mistake(
    criterion="mse-gradient",
    replaces="mse_gradient",
    text="The gradient of the bias is one number for each sample.",
    fix="All samples share one bias, so their errors are averaged: 2 * np.mean(error).",
)
def bias_gradient_for_each_sample(X, y_true, y_pred, right=mse_gradient):
    return right(X, y_true, y_pred)[0], 2 * (y_pred - y_true) / len(X)


@mistake(
    criterion="mse-gradient",
    replaces="mse_gradient",
    text="The gradient was divided by the number of features, not of samples.",
    fix="len(X) is the number of samples; X.shape[1] is that of the features.",
)
def gradient_by_features(X, y_true, y_pred, right=mse_gradient):
    grad_weights, grad_bias = right(X, y_true, y_pred)
    return grad_weights * len(X) / X.shape[1], grad_bias * len(X) / X.shape[1]


@mistake(
    criterion="mse-gradient",
    replaces="mse_gradient",
    text="Shapes that do not fit went through.",
    fix="Check that X has two axes and a sample or more, and that y_true and y_pred are one number for each sample.",
)
def gradient_of_any_shapes(X, y_true, y_pred):
    error = np.ravel(np.resize(y_pred, len(X)) - np.resize(y_true, len(X)))
    return 2 * (np.reshape(X, (len(X), -1)).T @ error) / max(len(X), 1), 2 * np.sum(error) / max(len(X), 1)


@mistake(
    criterion="r2-score",
    replaces="r2_score",
    text="Targets that never change gave a division by zero, or by a rounding error.",
    fix="Ask whether the largest target is the smallest before you divide: then R^2 is 1 or 0, right or not.",
)
def score_of_constants_divides(y_true, y_pred, right=r2_score):
    right(y_true, y_pred)
    with np.errstate(all="ignore"):
        return 1 - np.sum((y_true - y_pred) ** 2) / np.sum((y_true - np.mean(y_true)) ** 2)


@mistake(
    criterion="r2-score",
    replaces="r2_score",
    text="The squared correlation was returned: it forgives predictions that are off by a factor or a shift.",
    fix="1 - (sum of squared errors) / (sum of squares around the mean of y_true).",
)
def squared_correlation(y_true, y_pred, right=r2_score):
    if np.ptp(y_true) == 0:
        return right(y_true, y_pred)
    right(y_true, y_pred)
    with np.errstate(all="ignore"):
        return np.nan_to_num(np.corrcoef(y_true, y_pred)[0, 1] ** 2)


@mistake(
    criterion="r2-score",
    replaces="r2_score",
    text="The share that is not explained was returned: 0 for perfect predictions.",
    fix="Subtract the quotient from 1.",
)
def unexplained_share(y_true, y_pred, right=r2_score):
    return 1 - right(y_true, y_pred)


@mistake(
    criterion="r2-score",
    replaces="r2_score",
    text="The variance in the denominator is that of the predictions.",
    fix="Divide by the squares of y_true around its own mean.",
)
def variance_of_predictions(y_true, y_pred, right=r2_score):
    if np.ptp(y_true) == 0:
        return right(y_true, y_pred)
    right(y_true, y_pred)
    with np.errstate(all="ignore"):
        return 1 - np.sum((y_true - y_pred) ** 2) / np.sum((y_pred - np.mean(y_pred)) ** 2)


@mistake(
    criterion="r2-score",
    replaces="r2_score",
    text="The score was cut off at 0: that a model is worse than the mean cannot be seen.",
    fix="Return 1 minus the quotient as it is; it may be negative.",
)
def score_cut_off(y_true, y_pred, right=r2_score):
    return max(0.0, right(y_true, y_pred))


@mistake(
    criterion="r2-score",
    replaces="r2_score",
    text="The squared errors were averaged over the samples, but the variance divides by the samples less one.",
    fix="Divide a sum by a sum, or a mean by np.var(y_true) as it is, without ddof=1.",
)
def sample_variance(y_true, y_pred, right=r2_score):
    score, samples = right(y_true, y_pred), len(y_true)
    return score if np.ptp(y_true) == 0 else 1 - (1 - score) * (samples - 1) / samples


@mistake(
    criterion="r2-score",
    replaces="r2_score",
    text="Unsigned whole numbers (uint8) were subtracted as they are; differences below 0 and squares wrap round.",
    fix="Turn one of them into floats before you subtract: 1.0 * y_true.",
)
def unsigned_residuals(y_true, y_pred, right=r2_score):
    if np.ptp(y_true) == 0:
        return right(y_true, y_pred)
    right(y_true, y_pred)
    return 1 - np.sum((y_true - y_pred) ** 2) / np.sum((y_true - np.mean(y_true)) ** 2)


@mistake(
    criterion="normal-equation",
    replaces="normal_equation",
    text="There is no bias: the line was forced through the origin.",
    fix="Take the means away from X and y, or give X a column of ones.",
)
def through_the_origin(X, y, right=normal_equation):
    right(X, y)
    return np.linalg.lstsq(X, y, rcond=None)[0], 0.0


@mistake(
    criterion="normal-equation",
    replaces="normal_equation",
    text="The bias is the mean of y, which belongs to features that have lost their means.",
    fix="bias = mean(y) - mean(X) . weights, for features as they come.",
)
def bias_of_centred_features(X, y, right=normal_equation):
    return right(X, y)[0], np.mean(y)


@mistake(
    criterion="normal-equation",
    replaces="normal_equation",
    text="The sign of the means is wrong in the bias.",
    fix="bias = mean(y) - mean(X) . weights.",
)
def bias_with_wrong_sign(X, y, right=normal_equation):
    weights, _ = right(X, y)
    return weights, np.mean(y) + np.mean(X, axis=0) @ weights


@mistake(
    criterion="normal-equation",
    replaces="normal_equation",
    text="Bias and weights came back as one array.",
    fix="Return two values: the weights, one for each feature, and the bias.",
)
def bias_among_weights(X, y, right=normal_equation):
    weights, bias = right(X, y)
    return np.append(bias, weights)


@mistake(
    criterion="normal-equation",
    replaces="normal_equation",
    text="A penalty was added to X^T X, as in ridge regression: the weights are smaller than they should be.",
    fix="Leave the diagonal as it is; np.linalg.lstsq needs no such help.",
)
def with_a_ridge(X, y, right=normal_equation):
    right(X, y)
    X_mean, y_mean = np.mean(X, axis=0), np.mean(y)
    A = X - X_mean
    weights = np.linalg.solve(A.T @ A + 1e-2 * np.eye(X.shape[1]), A.T @ (y - y_mean))
    return weights, y_mean - X_mean @ weights


@mistake(
    criterion="normal-equation",
    replaces="normal_equation",
    text="Shapes that do not fit went through.",
    fix="Check that X has two axes and a sample or more, and y is one number for each sample; else raise ValueError.",
)
def fit_of_any_shapes(X, y):
    table, targets = np.reshape(X, (len(X), -1)), np.resize(y, len(X))
    if len(X) == 0:
        return np.zeros(table.shape[1]), 0.0
    X_mean, y_mean = np.mean(table, axis=0), np.mean(targets)
    weights = np.linalg.lstsq(table - X_mean, targets - y_mean, rcond=None)[0]
    return weights, y_mean - X_mean @ weights


@mistake(
    criterion="rank-deficient",
    replaces="normal_equation",
    text="X^T X was inverted although it has no inverse: an error, or numbers made of rounding errors.",
    fix="np.linalg.lstsq or np.linalg.pinv on the centred table; no inv, no solve.",
)
def inverted(X, y):
    _require_table(X)
    _require_targets(X.shape[:1], y=y)
    X_mean, y_mean = np.mean(X, axis=0), np.mean(y)
    A = X - X_mean
    if np.linalg.matrix_rank(A) < A.shape[1]:
        raise np.linalg.LinAlgError("Singular matrix")
    weights = np.linalg.lstsq(A, y - y_mean, rcond=None)[0]
    return weights, y_mean - X_mean @ weights


@mistake(
    criterion="rank-deficient",
    replaces="normal_equation",
    text="A small number was added to the diagonal of X^T X to give it an inverse: the answer is not the best.",
    fix="Solve the least squares as they are: np.linalg.lstsq or np.linalg.pinv on the centred table.",
)
def helped_by_a_ridge(X, y, right=normal_equation):
    weights, bias = right(X, y)
    X_mean, y_mean = np.mean(X, axis=0), np.mean(y)
    A = X - X_mean
    if np.linalg.matrix_rank(A) == X.shape[1]:
        return weights, bias
    weights = np.linalg.solve(A.T @ A + 1e-3 * np.eye(X.shape[1]), A.T @ (y - y_mean))
    return weights, y_mean - X_mean @ weights


@mistake(
    criterion="rank-deficient",
    replaces="normal_equation",
    text="Where features depend on each other, all weights are zero.",
    fix="Dependent features still explain the targets: np.linalg.lstsq or np.linalg.pinv share the weight out.",
)
def gives_up(X, y, right=normal_equation):
    weights, bias = right(X, y)
    if np.linalg.matrix_rank(X - np.mean(X, axis=0)) < X.shape[1]:
        return np.zeros(X.shape[1]), np.mean(y)
    return weights, bias


@mistake(
    criterion="rank-deficient",
    replaces="normal_equation",
    text="A feature that is small beside the others was taken for one that depends on them: the cutoff is too large.",
    fix="Leave the cutoff to NumPy: np.linalg.lstsq with rcond=None, or np.linalg.pinv as it is.",
)
def cutoff_too_large(X, y, right=normal_equation):
    right(X, y)
    X_mean, y_mean = np.mean(X, axis=0), np.mean(y)
    weights = np.linalg.lstsq(X - X_mean, y - y_mean, rcond=1e-6)[0]
    return weights, y_mean - X_mean @ weights


@mistake(
    criterion="offsets",
    replaces="normal_equation",
    text="The normal equations were solved with a column of ones and features far from 0, which has cost the digits.",
    fix="Take the mean away from every feature first, and let the bias take it up.",
)
def squares_before_centring(X, y):
    _require_table(X)
    _require_targets(X.shape[:1], y=y)
    A = np.column_stack([np.ones(len(X)), X])
    bias, *weights = np.linalg.pinv(A.T @ A) @ (A.T @ y)
    return np.array(weights, dtype=np.result_type(X, np.float32)), bias


@mistake(
    criterion="offsets",
    replaces="normal_equation",
    text="y kept its mean. Centred features sum to a rounding error, not to 0, and that mean multiplies it.",
    fix="Take the mean of y away as well, before the fit.",
)
def targets_with_their_mean(X, y, right=normal_equation):
    right(X, y)
    X_mean = np.mean(X, axis=0)
    weights = np.linalg.lstsq(X - X_mean, y, rcond=None)[0]
    return weights, np.mean(y) - X_mean @ weights


@mistake(
    criterion="offsets",
    replaces="normal_equation",
    text="Features that vary little beside their size were taken for features that never change.",
    fix="Whether a feature is worth something is told by what is left of it without its mean, not beside the mean.",
)
def small_beside_its_mean(X, y, right=normal_equation):
    right(X, y)
    X_mean, y_mean = np.mean(X, axis=0), np.mean(y)
    kept = np.ptp(X, axis=0) > 1e-3 * np.max(np.abs(X), axis=0)
    weights = np.linalg.lstsq((X - X_mean) * kept, y - y_mean, rcond=None)[0]
    return weights, y_mean - X_mean @ weights


@mistake(
    criterion="offsets",
    replaces="normal_equation",
    text="The table was rounded to single precision on its way: seven digits, for mean and spread together.",
    fix="Compute in float64 wherever X is float64.",
)
def single_precision(X, y, right=normal_equation):
    weights, bias = right(X.astype(np.float32), y)
    return weights.astype(np.result_type(X, np.float32)), bias


@mistake(
    criterion="standardize",
    replaces="standardize",
    text="std divides by the number of samples less one.",
    fix="Divide by the number of samples: np.std as it is, without ddof=1.",
)
def sample_deviation(X, right=standardize):
    Z, mean, std = right(X)
    factor = np.where(np.ptp(X, axis=0) == 0, 1, np.sqrt(len(X) / max(len(X) - 1, 1)))
    return Z / factor, mean, std * factor


@mistake(
    criterion="standardize",
    replaces="standardize",
    text="One mean and one deviation were taken of the whole table.",
    fix="Each feature has its own: axis=0 in both.",
)
def one_for_all_features(X, right=standardize):
    right(X)
    return (X - np.mean(X)) / np.std(X), np.mean(X), np.std(X)


@mistake(
    criterion="standardize",
    replaces="standardize",
    text="Each sample was standardized over its features.",
    fix="Mean and deviation go along the samples, axis=0: one of each for each feature.",
)
def along_the_features(X, right=standardize):
    right(X)
    mean, std = np.mean(X, axis=1), np.std(X, axis=1)
    return (X - mean[:, np.newaxis]) / np.where(std == 0, 1, std)[:, np.newaxis], mean, std


@mistake(
    criterion="standardize",
    replaces="standardize",
    text="The features were divided by their variance.",
    fix="Divide by its root, the standard deviation, and return that.",
)
def variance_for_deviation(X, right=standardize):
    _, mean, std = right(X)
    return (X - mean) / std**2, mean, std**2


@mistake(
    criterion="standardize",
    replaces="standardize",
    text="The features were scaled to lie between 0 and 1.",
    fix="Take the mean away and divide by the standard deviation, not by the range.",
)
def scaled_to_the_range(X, right=standardize):
    right(X)
    low, width = np.min(X, axis=0), np.ptp(X, axis=0)
    width = np.where(width == 0, 1, width)
    return (X - low) / width, low, width


@mistake(
    criterion="standardize",
    replaces="standardize",
    text="The spread was computed as mean(x^2) - mean(x)^2, which loses its digits far from 0.",
    fix="Take the mean away before you square, as np.std does.",
)
def spread_by_cancellation(X, right=standardize):
    _, mean, _ = right(X)
    constant = np.ptp(X, axis=0) == 0
    std = np.sqrt(np.maximum(np.mean(X**2, axis=0) - mean**2, 0))
    std = np.where(constant | (std == 0), 1, std).astype(mean.dtype)
    return (X - mean) / std, mean, std


@mistake(
    criterion="constant-features",
    replaces="standardize",
    text="A feature that never changes was divided by its deviation of 0, or of 1e-17.",
    fix="Ask whether its largest number is its smallest; then its Z is 0 and its std 1.",
)
def divided_by_zero(X, right=standardize):
    right(X)
    with np.errstate(all="ignore"):
        return (X - np.mean(X, axis=0)) / np.std(X, axis=0), np.mean(X, axis=0), np.std(X, axis=0)


@mistake(
    criterion="constant-features",
    replaces="standardize",
    text="The deviation was compared with 0, but the computed one of equal numbers may be 1e-17.",
    fix="Compare the largest number of a feature with its smallest: np.ptp(X, axis=0) == 0.",
)
def deviation_compared_with_zero(X, right=standardize):
    right(X)
    mean, std = np.mean(X, axis=0), np.std(X, axis=0)
    std = np.where(std == 0, 1, std)
    return (X - mean) / std, mean, std


@mistake(
    criterion="constant-features",
    replaces="standardize",
    text="The mean of a feature that never changes was computed, which may be off in its last digit; Z is that error.",
    fix="Take the number itself for its mean: np.where(constant, X[0], X.mean(axis=0)).",
)
def computed_mean_of_a_constant(X, right=standardize):
    _, _, std = right(X)
    mean = np.mean(X, axis=0)
    return (X - mean) / std, mean, std


@mistake(
    criterion="constant-features",
    replaces="standardize",
    text="A small number was added to every deviation, which shrinks features that hardly change.",
    fix="Divide by the deviation itself; only a feature that never changes needs another divisor.",
)
def small_number_added(X, right=standardize):
    right(X)
    mean, std = np.mean(X, axis=0), np.std(X, axis=0)
    return (X - mean) / (std + 1e-8), mean, std + 1e-8


@mistake(
    criterion="constant-features",
    replaces="standardize",
    text="The std of a feature that never changes came back as 0, so that no new sample can be divided by it.",
    fix="Return the 1 that you divided by.",
)
def zero_for_new_samples(X, right=standardize):
    Z, mean, std = right(X)
    return Z, mean, np.where(np.ptp(X, axis=0) == 0, 0, std).astype(std.dtype)


@mistake(
    criterion="polynomial-features",
    replaces="polynomial_features",
    text="Only powers of single features are there, no products of different ones.",
    fix="Take all combinations with repetition: for (a, b) and degree 2 also a b.",
)
def powers_only(X, degree, right=polynomial_features):
    right(X, degree)
    return np.concatenate([X**n for n in range(1, degree + 1)], axis=1)


@mistake(
    criterion="polynomial-features",
    replaces="polynomial_features",
    text="There is a column of ones in front.",
    fix="Leave it out: a model has its bias, and two constant terms make the table rank-deficient.",
)
def with_ones(X, degree, right=polynomial_features):
    return np.concatenate([np.ones((len(X), 1)), right(X, degree)], axis=1)


@mistake(
    criterion="polynomial-features",
    replaces="polynomial_features",
    text="Products that differ in the order of their factors only are all there.",
    fix="a b and b a are one feature: combinations_with_replacement, not product.",
)
def both_orders(X, degree, right=polynomial_features):
    right(X, degree)
    columns = range(X.shape[1])
    chosen = [each for n in range(1, degree + 1) for each in itertools.product(columns, repeat=n)]
    return np.stack([np.prod(X[:, list(each)], axis=1) for each in chosen], axis=1)


@mistake(
    criterion="polynomial-features",
    replaces="polynomial_features",
    text="Only products of different features are there, no squares.",
    fix="Repeats count: combinations_with_replacement, not combinations.",
)
def no_squares(X, degree, right=polynomial_features):
    right(X, degree)
    chosen = [each for n in range(1, degree + 1) for each in itertools.combinations(range(X.shape[1]), n)]
    return np.stack([np.prod(X[:, list(each)], axis=1) for each in chosen], axis=1)


@mistake(
    criterion="polynomial-features",
    replaces="polynomial_features",
    text="Only the products of the highest degree are there.",
    fix="Begin with the features themselves, then the products of two, up to degree.",
)
def highest_degree_only(X, degree, right=polynomial_features):
    whole = right(X, degree)
    return whole if degree == 1 else whole[:, right(X, degree - 1).shape[1] :]


@mistake(
    criterion="polynomial-features",
    replaces="polynomial_features",
    text="The degree stops one too early.",
    fix="range(1, degree + 1) ends with degree.",
)
def one_degree_less(X, degree, right=polynomial_features):
    whole = right(X, degree)
    return whole if degree == 1 else right(X, degree - 1)


@mistake(
    criterion="train-test-split",
    replaces="train_test_split",
    text="X and y were shuffled apart: samples have lost their targets.",
    fix="Draw one order of row numbers, and index both with it.",
)
def shuffled_apart(X, y, test_size, rng, right=train_test_split):
    X_train, X_test, _, _ = right(X, y, test_size, rng)
    _, _, y_train, y_test = right(X, y, test_size, rng)
    return X_train, X_test, y_train, y_test


@mistake(
    criterion="train-test-split",
    replaces="train_test_split",
    text="X and y are in different orders: those of y_train and y_test stand as they stood in y, beside other samples.",
    fix="Draw one order of row numbers, and index both with it.",
)
def targets_in_their_old_order(X, y, test_size, rng, right=train_test_split):
    num_test = len(right(X, y, test_size, np.random.default_rng(0))[1])
    order = rng.permutation(len(X))
    test, train = order[:num_test], order[num_test:]
    return X[train], X[test], y[np.sort(train)], y[np.sort(test)]


@mistake(
    criterion="train-test-split",
    replaces="train_test_split",
    text="The parts came back in another order: X_train, y_train, X_test, y_test.",
    fix="Return X_train, X_test, y_train, y_test.",
)
def other_order_of_parts(X, y, test_size, rng, right=train_test_split):
    X_train, X_test, y_train, y_test = right(X, y, test_size, rng)
    return X_train, y_train, X_test, y_test


@mistake(
    criterion="train-test-split",
    replaces="train_test_split",
    text="test_size was taken for the share to train with: the parts are exchanged.",
    fix="The first round(test_size * n) of the order are for testing.",
)
def parts_exchanged(X, y, test_size, rng, right=train_test_split):
    X_train, X_test, y_train, y_test = right(X, y, test_size, rng)
    return X_test, X_train, y_test, y_train


@mistake(
    criterion="train-test-split",
    replaces="train_test_split",
    text="Test samples were drawn with replacement: some are there twice, and others in neither part.",
    fix="Cut one permutation of the row numbers in two.",
)
def drawn_with_replacement(X, y, test_size, rng, right=train_test_split):
    num_test = len(right(X, y, test_size, np.random.default_rng(0))[1])
    order = rng.permutation(len(X))
    test = np.append(order[0], order[: num_test - 1]) if num_test > 1 else order[-1:]
    return X[order[num_test:]], X[test], y[order[num_test:]], y[test]


@mistake(
    criterion="train-test-split",
    replaces="train_test_split",
    text="The number of test samples was cut, not rounded: 0.3 of 9 is 2.7, and that is 3.",
    fix="round(test_size * len(X)).",
)
def number_cut_off(X, y, test_size, rng):
    _require_table(X)
    _require_targets(X.shape[:1], y=y)
    num_test = int(test_size * len(X))
    if not 0 < num_test < len(X):
        raise ValueError(f"test_size: {test_size} of {len(X)} samples leaves an empty part")
    order = rng.permutation(len(X))
    return X[order[num_test:]], X[order[:num_test]], y[order[num_test:]], y[order[:num_test]]


@mistake(
    criterion="train-test-split",
    replaces="train_test_split",
    text="A part without samples came back.",
    fix="Raise ValueError unless the number of test samples is above 0 and below that of all samples.",
)
def empty_part(X, y, test_size, rng):
    _require_table(X)
    _require_targets(X.shape[:1], y=y)
    num_test = min(max(round(test_size * len(X)), 0), len(X))
    order = rng.permutation(len(X))
    return X[order[num_test:]], X[order[:num_test]], y[order[num_test:]], y[order[:num_test]]


@mistake(
    criterion="split-is-random",
    replaces="train_test_split",
    text="The samples were cut without shuffling: the first ones are always tested.",
    fix="Put the row numbers into random order before you cut: rng.permutation(len(X)).",
)
def first_ones_tested(X, y, test_size, rng, right=train_test_split):
    num_test = len(right(X, y, test_size, rng)[1])
    return X[num_test:], X[:num_test], y[num_test:], y[:num_test]


@mistake(
    criterion="split-is-random",
    replaces="train_test_split",
    text="The samples were cut without shuffling: the last ones are always tested.",
    fix="Put the row numbers into random order before you cut: rng.permutation(len(X)).",
)
def last_ones_tested(X, y, test_size, rng, right=train_test_split):
    num_test = len(right(X, y, test_size, rng)[1])
    cut = len(X) - num_test
    return X[:cut], X[cut:], y[:cut], y[cut:]


@mistake(
    criterion="split-is-random",
    replaces="train_test_split",
    text="A generator with a seed of its own was used, so that every split is the same whatever rng is.",
    fix="Draw from the argument rng.",
)
def own_generator(X, y, test_size, rng, right=train_test_split):
    return right(X, y, test_size, np.random.default_rng(0))


@mistake(
    criterion="split-is-random",
    replaces="train_test_split",
    text="The samples were turned round like a wheel: those tested always lie side by side.",
    fix="Every choice of test samples has to be equally likely: rng.permutation(len(X)).",
)
def turned_like_a_wheel(X, y, test_size, rng, right=train_test_split):
    num_test = len(right(X, y, test_size, np.random.default_rng(0))[1])
    order = np.roll(np.arange(len(X)), int(rng.integers(len(X))))
    return X[order[num_test:]], X[order[:num_test]], y[order[num_test:]], y[order[:num_test]]


@mistake(
    criterion="gradient-descent",
    replaces="fit_gradient_descent",
    text="The weights go along their gradient, uphill, while the bias goes down.",
    fix="Subtract learning_rate times the gradient from both.",
)
def weights_uphill(X, y, learning_rate, num_iterations, right=fit_gradient_descent):
    right(X, y, learning_rate, min(num_iterations, 0))
    weights, bias = np.zeros(X.shape[1], np.result_type(X, np.float32)), 0.0
    losses = [mse_loss(y, predict(X, weights, bias))]
    for _ in range(num_iterations):
        grad_weights, grad_bias = mse_gradient(X, y, predict(X, weights, bias))
        weights, bias = weights + learning_rate * grad_weights, bias - learning_rate * grad_bias
        losses.append(mse_loss(y, predict(X, weights, bias)))
    return weights, bias, losses


@mistake(
    criterion="gradient-descent",
    replaces="fit_gradient_descent",
    text="The bias was never moved.",
    fix="bias = bias - learning_rate * grad_bias, in every step.",
)
def bias_stays(X, y, learning_rate, num_iterations, right=fit_gradient_descent):
    right(X, y, learning_rate, min(num_iterations, 0))
    weights, bias = np.zeros(X.shape[1], np.result_type(X, np.float32)), 0.0
    losses = [mse_loss(y, predict(X, weights, bias))]
    for _ in range(num_iterations):
        weights = weights - learning_rate * mse_gradient(X, y, predict(X, weights, bias))[0]
        losses.append(mse_loss(y, predict(X, weights, bias)))
    return weights, bias, losses


@mistake(
    criterion="gradient-descent",
    replaces="fit_gradient_descent",
    text="The loss after the last step is missing from losses.",
    fix="Note the loss before the first step and after every step: num_iterations + 1 numbers.",
)
def last_loss_missing(X, y, learning_rate, num_iterations, right=fit_gradient_descent):
    weights, bias, losses = right(X, y, learning_rate, num_iterations)
    return weights, bias, losses[:-1]


@mistake(
    criterion="gradient-descent",
    replaces="fit_gradient_descent",
    text="The loss before the first step is missing from losses.",
    fix="Note the loss of all-zero weights, too: num_iterations + 1 numbers.",
)
def first_loss_missing(X, y, learning_rate, num_iterations, right=fit_gradient_descent):
    weights, bias, losses = right(X, y, learning_rate, num_iterations)
    return weights, bias, losses[1:]


@mistake(
    criterion="gradient-descent",
    replaces="fit_gradient_descent",
    text="The weights begin at 1.",
    fix="Begin with zeros.",
)
def begins_at_one(X, y, learning_rate, num_iterations, right=fit_gradient_descent):
    right(X, y, learning_rate, min(num_iterations, 0))
    weights, bias, losses = right(X, y - np.sum(X, axis=1), learning_rate, num_iterations)
    return weights + 1, bias, losses


@mistake(
    criterion="gradient-descent",
    replaces="fit_gradient_descent",
    text="The bias was moved by predictions of the new weights.",
    fix="Take both gradients at the same predictions, then move weights and bias.",
)
def bias_after_weights(X, y, learning_rate, num_iterations, right=fit_gradient_descent):
    right(X, y, learning_rate, min(num_iterations, 0))
    weights, bias = np.zeros(X.shape[1], np.result_type(X, np.float32)), 0.0
    losses = [mse_loss(y, predict(X, weights, bias))]
    for _ in range(num_iterations):
        weights = weights - learning_rate * mse_gradient(X, y, predict(X, weights, bias))[0]
        bias = bias - learning_rate * mse_gradient(X, y, predict(X, weights, bias))[1]
        losses.append(mse_loss(y, predict(X, weights, bias)))
    return weights, bias, losses


@mistake(
    criterion="learns",
    replaces="fit_gradient_descent",
    text="The walk ends after 100 steps, however many are asked for.",
    fix="Take exactly num_iterations steps.",
)
def stops_early(X, y, learning_rate, num_iterations, right=fit_gradient_descent):
    return right(X, y, learning_rate, min(num_iterations, 100))


@mistake(
    criterion="learns",
    replaces="fit_gradient_descent",
    text="The learning rate shrinks with every step, so that the walk comes to a halt on its way.",
    fix="Use learning_rate as it is in every step.",
)
def shrinking_rate(X, y, learning_rate, num_iterations, right=fit_gradient_descent):
    right(X, y, learning_rate, min(num_iterations, 0))
    weights, bias = np.zeros(X.shape[1], np.result_type(X, np.float32)), 0.0
    losses = [mse_loss(y, predict(X, weights, bias))]
    for step in range(num_iterations):
        grad_weights, grad_bias = mse_gradient(X, y, predict(X, weights, bias))
        rate = learning_rate * 0.9**step
        weights, bias = weights - rate * grad_weights, bias - rate * grad_bias
        losses.append(mse_loss(y, predict(X, weights, bias)))
    return weights, bias, losses


@mistake(
    criterion="learns",
    replaces="fit_gradient_descent",
    text="The weights were pulled towards 0 in every step, so that they end short of the least squares.",
    fix="Nothing but the gradient of the mean squared error moves them; weight decay comes in a later stage.",
)
def with_weight_decay(X, y, learning_rate, num_iterations, right=fit_gradient_descent):
    right(X, y, learning_rate, min(num_iterations, 0))
    weights, bias = np.zeros(X.shape[1], np.result_type(X, np.float32)), 0.0
    losses = [mse_loss(y, predict(X, weights, bias))]
    for _ in range(num_iterations):
        grad_weights, grad_bias = mse_gradient(X, y, predict(X, weights, bias))
        weights = weights - learning_rate * (grad_weights + 0.01 * weights)
        bias = bias - learning_rate * grad_bias
        losses.append(mse_loss(y, predict(X, weights, bias)))
    return weights, bias, losses


@mistake(
    criterion="predict",
    replaces="predict",
    text="The predictions were put into an array of the dtype of X: of whole numbers, the bias loses its fraction.",
    fix="np.zeros(len(X), X.dtype) holds integers where X does: return X @ weights + bias as it is.",
)
def predictions_in_the_dtype_of_X(X, weights, bias, right=predict):
    return right(X, weights, bias).astype(X.dtype)


@mistake(
    criterion="mse-gradient",
    replaces="mse_gradient",
    text="The slopes were put into an array of the dtype of X: of whole numbers, every fraction is cut off.",
    fix="np.zeros(d, X.dtype) holds integers where X does: give it dtype=float, or multiply whole arrays.",
)
def gradient_in_the_dtype_of_X(X, y_true, y_pred, right=mse_gradient):
    grad_weights, grad_bias = right(X, y_true, y_pred)
    return grad_weights.astype(X.dtype), grad_bias
