"""Wrong answers that learners of this stage give, and what each should read.

A wrong answer that differs from the solution in one step takes the solution's own function as the default of `right`.
"""

import numpy as np

from grader.course.answers import mistake
from hidden.s09_regularization.solution import (
    cross_val_score,
    dropout,
    dropout_backward,
    early_stopping,
    elastic_net_gradient,
    fit_lasso,
    fit_ridge,
    k_fold_indices,
    lasso_penalty,
    ridge_gradient,
    ridge_penalty,
    soft_threshold,
    stratified_k_fold_indices,
)


@mistake(
    criterion="ridge-penalty",
    replaces="ridge_penalty",
    text="The penalty was halved.",
    fix="Leave out the factor 1/2: this course's ridge penalty is alpha times the sum of squares.",
)
def halved_squares(weights, alpha, right=ridge_penalty):
    return right(weights, alpha) / 2


@mistake(
    criterion="ridge-penalty",
    replaces="ridge_penalty",
    text="The squares were averaged, not summed.",
    fix="Take np.sum: a model with more weights pays for each of them.",
)
def averaged_squares(weights, alpha, right=ridge_penalty):
    return right(weights, alpha) / weights.size


@mistake(
    criterion="ridge-penalty",
    replaces="ridge_penalty",
    text="The root of the sum of squares was taken.",
    fix="Leave the root out: the penalty is the squared norm, not the norm.",
)
def norm_without_square(weights, alpha, right=ridge_penalty):
    return alpha * np.sqrt(right(weights, 1.0)) if alpha >= 0 else right(weights, alpha)


@mistake(
    criterion="ridge-penalty",
    replaces="ridge_penalty",
    text="A negative alpha went through: it rewards large weights.",
    fix="Raise ValueError in ridge_penalty if alpha is below 0.",
)
def any_alpha_for_squares(weights, alpha):
    return alpha * np.sum(weights**2)


@mistake(
    criterion="ridge-penalty",
    replaces="ridge_gradient",
    text="The factor 2 is missing from the gradient.",
    fix="Differentiate alpha w^2: the slope is 2 alpha w.",
)
def slope_without_two(weights, alpha, right=ridge_gradient):
    return right(weights, alpha) / 2


@mistake(
    criterion="ridge-penalty",
    replaces="ridge_gradient",
    text="The gradient does not have the factor alpha.",
    fix="Multiply the slope 2 w by alpha, as the penalty is.",
)
def slope_without_alpha(weights, alpha, right=ridge_gradient):
    right(weights, alpha)
    return 2 * weights


@mistake(
    criterion="ridge-penalty",
    replaces="ridge_gradient",
    text="A negative alpha went through ridge_gradient.",
    fix="Raise ValueError in ridge_gradient, too, if alpha is below 0.",
)
def any_alpha_for_slopes(weights, alpha):
    return 2 * alpha * weights


@mistake(
    criterion="lasso-penalty",
    replaces="lasso_penalty",
    text="The weights were summed with their signs, so that they cancel.",
    fix="Take np.abs before the sum.",
)
def signed_sum(weights, alpha, right=lasso_penalty):
    right(weights, alpha)
    return alpha * np.sum(weights)


@mistake(
    criterion="lasso-penalty",
    replaces="lasso_penalty",
    text="The absolute weights were averaged, not summed.",
    fix="Take np.sum over all entries.",
)
def averaged_sizes(weights, alpha, right=lasso_penalty):
    return right(weights, alpha) / weights.size


@mistake(
    criterion="lasso-penalty",
    replaces="lasso_penalty",
    text="Only the largest weight was charged, as the maximum norm does.",
    fix="Sum the absolute values of all weights.",
)
def largest_weight(weights, alpha, right=lasso_penalty):
    right(weights, alpha)
    return alpha * np.max(np.abs(weights))


@mistake(
    criterion="lasso-penalty",
    replaces="lasso_penalty",
    text="The matrix norm np.linalg.norm(weights, 1) was taken: of a matrix, it is the largest column sum.",
    fix="Use np.sum(np.abs(weights)), which is the same for every shape.",
)
def matrix_norm(weights, alpha, right=lasso_penalty):
    right(weights, alpha)
    return alpha * np.linalg.norm(weights, 1)


@mistake(
    criterion="lasso-penalty",
    replaces="lasso_penalty",
    text="A negative alpha went through lasso_penalty.",
    fix="Raise ValueError if alpha is below 0.",
)
def any_alpha_for_sizes(weights, alpha):
    return alpha * np.sum(np.abs(weights))


@mistake(
    criterion="soft-threshold",
    replaces="soft_threshold",
    text="What is above the threshold was left as it is: that is the hard threshold.",
    fix="Move every number towards 0 by threshold, large ones too.",
)
def hard_threshold(z, threshold, right=soft_threshold):
    return np.where(right(z, threshold) == 0, np.zeros_like(z), z)


@mistake(
    criterion="soft-threshold",
    replaces="soft_threshold",
    text="Numbers near 0 were moved past it, and came out with the other sign.",
    fix="Stop at 0: np.maximum(np.abs(z) - threshold, 0).",
)
def past_zero(z, threshold, right=soft_threshold):
    right(z, threshold)
    return z - np.sign(z) * threshold


@mistake(
    criterion="soft-threshold",
    replaces="soft_threshold",
    text="Negative numbers became 0: only the positive side was moved.",
    fix="Move both sides: shrink |z|, and give the sign back afterwards.",
)
def one_sided_threshold(z, threshold, right=soft_threshold):
    return np.maximum(right(z, threshold), 0)


@mistake(
    criterion="soft-threshold",
    replaces="soft_threshold",
    text="The sign was lost: negative numbers came out positive.",
    fix="Multiply the shrunk size by np.sign(z).",
)
def sign_lost(z, threshold, right=soft_threshold):
    return np.abs(right(z, threshold))


@mistake(
    criterion="soft-threshold",
    replaces="soft_threshold",
    text="A negative threshold went through: it moves numbers away from 0.",
    fix="Raise ValueError if threshold is below 0.",
)
def any_threshold(z, threshold):
    return np.sign(z) * np.maximum(np.abs(z) - threshold, 0)


@mistake(
    criterion="elastic-net",
    replaces="elastic_net_gradient",
    text="A weight of 0 got the slope of the negative side.",
    fix="Use np.sign, which is 0 at 0, or treat 0 as a case of its own.",
)
def slope_at_zero(weights, alpha, l1_ratio, right=elastic_net_gradient):
    return right(weights, alpha, l1_ratio) - alpha * l1_ratio * (weights == 0)


@mistake(
    criterion="elastic-net",
    replaces="elastic_net_gradient",
    text="The shares are swapped: l1_ratio weighs the ridge part.",
    fix="Multiply sign(w) by l1_ratio, and 2 w by 1 - l1_ratio.",
)
def swapped_shares(weights, alpha, l1_ratio, right=elastic_net_gradient):
    return right(weights, alpha, 1 - l1_ratio)


@mistake(
    criterion="elastic-net",
    replaces="elastic_net_gradient",
    text="The ridge part lacks its factor 2, as if its penalty were halved.",
    fix="Differentiate this module's ridge_penalty: alpha w^2 has the slope 2 alpha w.",
)
def halved_ridge_part(weights, alpha, l1_ratio, right=elastic_net_gradient):
    return right(weights, alpha, l1_ratio) - alpha * (1 - l1_ratio) * weights


@mistake(
    criterion="elastic-net",
    replaces="elastic_net_gradient",
    text="The absolute weights stand where their slope belongs.",
    fix="The derivative of |w| is sign(w), 1 or -1 whatever the size.",
)
def sizes_for_slopes(weights, alpha, l1_ratio, right=elastic_net_gradient):
    return right(weights, alpha, l1_ratio) + alpha * l1_ratio * (np.abs(weights) - np.sign(weights))


@mistake(
    criterion="elastic-net",
    replaces="elastic_net_gradient",
    text="alpha was given to the lasso part only.",
    fix="Multiply both parts by alpha.",
)
def alpha_for_one_part(weights, alpha, l1_ratio, right=elastic_net_gradient):
    return right(weights, alpha, l1_ratio) + 2 * (1 - alpha) * (1 - l1_ratio) * weights


@mistake(
    criterion="elastic-net",
    replaces="elastic_net_gradient",
    text="An l1_ratio outside 0 to 1 went through, which makes one share negative.",
    fix="Raise ValueError unless 0 <= l1_ratio <= 1.",
)
def any_ratio(weights, alpha, l1_ratio, right=elastic_net_gradient):
    return l1_ratio * right(weights, alpha, 1.0) + (1 - l1_ratio) * right(weights, alpha, 0.0)


@mistake(
    criterion="fit-ridge",
    replaces="fit_ridge",
    text="The bias was penalised like a weight, so predictions are drawn towards 0.",
    fix="Take the means away before the fit, or leave the bias's place on the diagonal 0.",
)
def penalised_bias(X, y, alpha, right=fit_ridge):
    right(X, y, alpha)
    A = np.column_stack([np.ones(len(X)), X])
    solution = np.linalg.lstsq(A.T @ A + alpha * np.eye(A.shape[1]), A.T @ y, rcond=None)[0]
    return solution[1:], solution[0]


@mistake(
    criterion="fit-ridge",
    replaces="fit_ridge",
    text="alpha was multiplied by the number of samples, as it would be for a mean of squared errors.",
    fix="Charge alpha against the sum of squared errors: X^T X + alpha I.",
)
def alpha_for_a_mean(X, y, alpha, right=fit_ridge):
    return right(X, y, alpha * len(y))


@mistake(
    criterion="fit-ridge",
    replaces="fit_ridge",
    text="The model has no bias: X and y kept their means.",
    fix="Fit X and y without their means, then bias = mean(y) - mean(X) . weights.",
)
def no_bias(X, y, alpha, right=fit_ridge):
    right(X, y, alpha)
    return np.linalg.lstsq(X.T @ X + alpha * np.eye(X.shape[1]), X.T @ y, rcond=None)[0], 0.0


@mistake(
    criterion="fit-ridge",
    replaces="fit_ridge",
    text="The bias is the mean of y alone.",
    fix="Subtract what the weights make of the mean features: mean(y) - mean(X) . weights.",
)
def bias_is_the_mean(X, y, alpha, right=fit_ridge):
    return right(X, y, alpha)[0], np.mean(y)


@mistake(
    criterion="fit-ridge",
    replaces="fit_ridge",
    text="The appended rows hold alpha, whose squares are charged: the penalty is alpha squared.",
    fix="Append sqrt(alpha) times the identity.",
)
def alpha_squared(X, y, alpha, right=fit_ridge):
    return right(X, y, alpha**2 if alpha > 0 else alpha)


@mistake(
    criterion="fit-ridge",
    replaces="fit_ridge",
    text="A negative alpha was fitted.",
    fix="Raise ValueError if alpha is below 0.",
)
def any_alpha_for_ridge(X, y, alpha, right=fit_ridge):
    if alpha >= 0:
        return right(X, y, alpha)
    right(X, y, 0.0)
    A = X - X.mean(axis=0)
    weights = np.linalg.solve(A.T @ A + alpha * np.eye(X.shape[1]), A.T @ y)
    return weights, np.mean(y) - X.mean(axis=0) @ weights


@mistake(
    criterion="ridge-hard-cases",
    replaces="fit_ridge",
    text="A column of ones was multiplied out beside the features: where those are far from 0, the digits are lost.",
    fix="Take the mean of each feature away before X^T X is computed.",
)
def multiplied_out(X, y, alpha, right=fit_ridge):
    dtype = right(X, y, alpha)[0].dtype
    A = np.column_stack([np.ones(len(X)), X]).astype(float)
    price = alpha * np.eye(A.shape[1])
    price[0, 0] = 0
    solution = np.linalg.lstsq(A.T @ A + price, A.T @ y, rcond=None)[0]
    return solution[1:].astype(dtype), solution[0]


@mistake(
    criterion="ridge-hard-cases",
    replaces="fit_ridge",
    text="y kept its mean. Centred features sum to a rounding error, not to 0, and that mean multiplies it.",
    fix="Take the mean of y away as well, before the fit.",
)
def targets_with_their_mean(X, y, alpha, right=fit_ridge):
    right(X, y, alpha)
    X_mean = np.mean(X, axis=0)
    rows = np.concatenate([X - X_mean, alpha**0.5 * np.eye(X.shape[1])])
    weights = np.linalg.lstsq(rows, np.pad(y, (0, X.shape[1])), rcond=None)[0]
    return weights.astype(np.result_type(X, np.float32)), np.mean(y) - X_mean @ weights


@mistake(
    criterion="ridge-hard-cases",
    replaces="fit_ridge",
    text="Dependent features were fitted without the penalty, by the shortest least-squares solution.",
    fix="Add alpha I in every case: it makes X^T X invertible by itself.",
)
def penalty_left_out(X, y, alpha, right=fit_ridge):
    weights, bias = right(X, y, alpha)
    dependent = np.linalg.matrix_rank(X - X.mean(axis=0)) < X.shape[1]
    return right(X, y, 0.0) if dependent else (weights, bias)


@mistake(
    criterion="ridge-hard-cases",
    replaces="fit_ridge",
    text="np.linalg.solve was used without a penalty: of dependent features X^T X has no inverse.",
    fix="Take np.linalg.lstsq, which finds one of the best answers: with alpha = 0 any of them will do.",
)
def solved_without_an_inverse(X, y, alpha, right=fit_ridge):
    right(X, y, alpha)
    A = X - X.mean(axis=0)
    weights = np.linalg.solve(A.T @ A + alpha * np.eye(X.shape[1], dtype=A.dtype), A.T @ (y - y.mean()))
    return weights, y.mean() - X.mean(axis=0) @ weights


@mistake(
    criterion="ridge-hard-cases",
    replaces="fit_ridge",
    text="More features than samples were refused.",
    fix="Fit them: with a penalty there is one best answer, however few the samples.",
)
def few_samples_refused(X, y, alpha, right=fit_ridge):
    model = right(X, y, alpha)
    if len(X) < X.shape[1]:
        raise ValueError("X: too few samples")
    return model


@mistake(
    criterion="ridge-hard-cases",
    replaces="fit_ridge",
    text="Each feature was divided by its spread, and one that never changes became NaN.",
    fix="Leave the features in their units, or divide by 1 where the spread is 0.",
)
def divided_by_no_spread(X, y, alpha, right=fit_ridge):
    weights, bias = right(X, y, alpha)
    return np.where(np.ptp(X, axis=0) == 0, np.nan, weights), bias


@mistake(
    criterion="fit-lasso",
    replaces="fit_lasso",
    text="All weights of an iteration were computed from the weights before it.",
    fix="Use each new weight at once: the next feature sees the errors that are left.",
)
def all_at_once(X, y, alpha, num_iterations, right=fit_lasso):
    right(X, y, alpha, num_iterations)
    A, weights = X - X.mean(axis=0), np.zeros(X.shape[1])
    sizes = np.where(np.ptp(X, axis=0) == 0, 1, np.mean(A**2, axis=0))
    for _ in range(num_iterations):
        slopes = A.T @ (y - y.mean() - A @ weights) / len(X)
        weights = soft_threshold(slopes + sizes * weights, alpha) / sizes
    return weights, y.mean() - X.mean(axis=0) @ weights


@mistake(
    criterion="fit-lasso",
    replaces="fit_lasso",
    text="Sums stand where means belong, so that alpha weighs less the more samples there are.",
    fix="Take np.mean of x_j times the errors, and of x_j^2.",
)
def sums_for_means(X, y, alpha, num_iterations, right=fit_lasso):
    return right(X, y, alpha / max(len(y), 1), num_iterations)


@mistake(
    criterion="fit-lasso",
    replaces="fit_lasso",
    text="The squared errors were not halved, so the threshold is alpha / 2.",
    fix="The objective is 1/(2n) times the squared errors: its slope is compared with alpha itself.",
)
def errors_not_halved(X, y, alpha, num_iterations, right=fit_lasso):
    return right(X, y, alpha / 2, num_iterations)


@mistake(
    criterion="fit-lasso",
    replaces="fit_lasso",
    text="The threshold was applied after the division by mean(x_j^2).",
    fix="Apply soft_threshold(..., alpha) first, then divide by mean(x_j^2).",
)
def threshold_after_division(X, y, alpha, num_iterations, right=fit_lasso):
    right(X, y, alpha, num_iterations)
    A, weights = X - X.mean(axis=0), np.zeros(X.shape[1])
    for _ in range(num_iterations):
        for j in np.flatnonzero(np.ptp(X, axis=0)):
            errors = y - y.mean() - A @ weights + A[:, j] * weights[j]
            weights[j] = soft_threshold(np.mean(A[:, j] * errors) / np.mean(A[:, j] ** 2), alpha)
    return weights, y.mean() - X.mean(axis=0) @ weights


@mistake(
    criterion="fit-lasso",
    replaces="fit_lasso",
    text="The errors still hold the feature's own part when its weight is computed.",
    fix="Add x_j w_j back to the errors before w_j is set.",
)
def own_part_kept(X, y, alpha, num_iterations, right=fit_lasso):
    right(X, y, alpha, num_iterations)
    A, weights = X - X.mean(axis=0), np.zeros(X.shape[1])
    for _ in range(num_iterations):
        for j in np.flatnonzero(np.ptp(X, axis=0)):
            errors = y - y.mean() - A @ weights
            weights[j] = soft_threshold(np.mean(A[:, j] * errors), alpha) / np.mean(A[:, j] ** 2)
    return weights, y.mean() - X.mean(axis=0) @ weights


@mistake(
    criterion="fit-lasso",
    replaces="fit_lasso",
    text="The bias is the mean of y alone, whatever the features' means are.",
    fix="Return mean(y) - mean(X) . weights.",
)
def lasso_bias_is_the_mean(X, y, alpha, num_iterations, right=fit_lasso):
    return right(X, y, alpha, num_iterations)[0], np.mean(y)


@mistake(
    criterion="fit-lasso",
    replaces="fit_lasso",
    text="The weights have the type of X: where that holds whole numbers, they were cut off to whole numbers as well.",
    fix="Make the weights floats: np.zeros(X.shape[1]), or zeros of the type of X without its means.",
)
def weights_of_whole_numbers(X, y, alpha, num_iterations, right=fit_lasso):
    right(X, y, alpha, num_iterations)
    A, weights = X - X.mean(axis=0), np.zeros(X.shape[1], dtype=X.dtype)
    for _ in range(num_iterations):
        for j in np.flatnonzero(np.ptp(X, axis=0)):
            errors = y - y.mean() - A @ weights + A[:, j] * weights[j]
            weights[j] = soft_threshold(np.mean(A[:, j] * errors), alpha) / np.mean(A[:, j] ** 2)
    return weights, y.mean() - X.mean(axis=0) @ weights


@mistake(
    criterion="fit-lasso",
    replaces="fit_lasso",
    text="A number of iterations below 1 went through.",
    fix="Raise ValueError if num_iterations is below 1.",
)
def any_iterations(X, y, alpha, num_iterations, right=fit_lasso):
    if num_iterations < 1:
        return np.zeros(X.shape[1]), np.mean(y)
    return right(X, y, alpha, num_iterations)


@mistake(
    criterion="lasso-zeros",
    replaces="fit_lasso",
    text="A feature that never changes was divided by its mean square, 0, and its weight is NaN.",
    fix="Skip such features: their weight stays 0.",
)
def zero_by_zero(X, y, alpha, num_iterations, right=fit_lasso):
    weights, bias = right(X, y, alpha, num_iterations)
    return np.where(np.ptp(X, axis=0) == 0, np.nan, weights), bias * (np.nan if np.any(np.ptp(X, axis=0) == 0) else 1)


@mistake(
    criterion="lasso-zeros",
    replaces="fit_lasso",
    text="A feature that never changes got a weight: its mean is rounded, and what was left was taken for a spread.",
    fix="Ask whether its largest number is its smallest, np.ptp(X, axis=0) == 0, not whether its spread is 0.",
)
def spread_of_a_rounded_mean(X, y, alpha, num_iterations, right=fit_lasso):
    weights = right(X, y, alpha, num_iterations)[0] * 0
    A = X - X.mean(axis=0)
    for _ in range(num_iterations):
        for j in np.flatnonzero(np.mean(A**2, axis=0)):
            errors = y - y.mean() - A @ weights + A[:, j] * weights[j]
            weights[j] = soft_threshold(np.mean(A[:, j] * errors), alpha) / np.mean(A[:, j] ** 2)
    return weights, y.mean() - X.mean(axis=0) @ weights


@mistake(
    criterion="lasso-zeros",
    replaces="fit_lasso",
    text="Features that never change were left out of the answer, which is too short.",
    fix="Return one weight for each feature of X, 0 for these.",
)
def constants_left_out(X, y, alpha, num_iterations, right=fit_lasso):
    weights, bias = right(X, y, alpha, num_iterations)
    return weights[np.ptp(X, axis=0) > 0], bias


@mistake(
    criterion="lasso-zeros",
    replaces="fit_lasso",
    text="A feature that never changes was refused.",
    fix="Let it keep the weight 0, and fit the others.",
)
def constants_refused(X, y, alpha, num_iterations, right=fit_lasso):
    if X.ndim == 2 and len(X) > 0 and np.any(np.ptp(X, axis=0) == 0):
        raise ValueError("X: a feature never changes")
    return right(X, y, alpha, num_iterations)


@mistake(
    criterion="lasso-zeros",
    replaces="fit_lasso",
    text="Products were averaged before the means were taken away: far from 0 the digits are lost.",
    fix="Take the mean of each feature away first, and multiply then.",
)
def products_of_far_features(X, y, alpha, num_iterations, right=fit_lasso):
    weights = right(X, y, alpha, num_iterations)[0] * 0
    X_mean, y_mean = X.mean(axis=0), y.mean()
    gram, slopes = X.T @ X / len(X) - np.outer(X_mean, X_mean), X.T @ y / len(X) - X_mean * y_mean
    for _ in range(num_iterations):
        for j in np.flatnonzero(np.ptp(X, axis=0)):
            left = slopes[j] - gram[j] @ weights + gram[j, j] * weights[j]
            weights[j] = soft_threshold(left, alpha) / gram[j, j]
    return weights, y_mean - X_mean @ weights


@mistake(
    criterion="k-fold",
    replaces="k_fold_indices",
    text="The samples were cut in the order in which they stand: rng was not asked.",
    fix="Cut rng.permutation(num_samples).",
)
def not_shuffled(num_samples, num_folds, rng, right=k_fold_indices):
    right(num_samples, num_folds, np.random.default_rng(0))
    order = np.arange(num_samples)
    parts = np.array_split(order, num_folds)
    return [(np.setdiff1d(order, part), part) for part in parts]


@mistake(
    criterion="k-fold",
    replaces="k_fold_indices",
    text="What is left over after equal folds is never tested.",
    fix="Share the rest out: np.array_split, or every num_folds-th of the order.",
)
def rest_not_tested(num_samples, num_folds, rng, right=k_fold_indices):
    right(num_samples, num_folds, np.random.default_rng(0))
    order, size = rng.permutation(num_samples), num_samples // num_folds
    parts = [order[i * size : (i + 1) * size] for i in range(num_folds)]
    return [(np.setdiff1d(order, part), part) for part in parts]


@mistake(
    criterion="k-fold",
    replaces="k_fold_indices",
    text="The whole rest after equal folds went into the last fold.",
    fix="Share the rest out, one sample for each fold: sizes differ by at most 1.",
)
def rest_in_one_fold(num_samples, num_folds, rng, right=k_fold_indices):
    right(num_samples, num_folds, np.random.default_rng(0))
    order, size = rng.permutation(num_samples), num_samples // num_folds
    parts = np.split(order, [i * size for i in range(1, num_folds)])
    return [(np.setdiff1d(order, part), part) for part in parts]


@mistake(
    criterion="k-fold",
    replaces="k_fold_indices",
    text="All samples are in train, those that are tested too.",
    fix="Leave the test samples out of train.",
)
def trained_on_the_test(num_samples, num_folds, rng, right=k_fold_indices):
    return [(np.arange(num_samples), test) for _, test in right(num_samples, num_folds, rng)]


@mistake(
    criterion="k-fold",
    replaces="k_fold_indices",
    text="The pairs are (test, train).",
    fix="Return (train, test), the larger part first.",
)
def test_comes_first(num_samples, num_folds, rng, right=k_fold_indices):
    return [(test, train) for train, test in right(num_samples, num_folds, rng)]


@mistake(
    criterion="k-fold",
    replaces="k_fold_indices",
    text="Each test set was drawn anew, so some samples are tested twice and others never.",
    fix="Draw one order for all folds, and cut it.",
)
def drawn_anew(num_samples, num_folds, rng, right=k_fold_indices):
    tests = [test[np.argsort(rng.random(len(test)))] for _, test in right(num_samples, num_folds, rng)]
    tests = [rng.permutation(num_samples)[: len(test)] for test in tests]
    return [(np.setdiff1d(np.arange(num_samples), test), test) for test in tests]


@mistake(
    criterion="k-fold",
    replaces="k_fold_indices",
    text="A generator of its own was used, so that every call gives the same folds.",
    fix="Use the argument rng for the permutation.",
)
def own_generator(num_samples, num_folds, rng, right=k_fold_indices):
    return right(num_samples, num_folds, np.random.default_rng(0))


@mistake(
    criterion="k-fold",
    replaces="k_fold_indices",
    text="A number of folds that leaves nothing to train or to test with went through.",
    fix="Raise ValueError unless 2 <= num_folds <= num_samples.",
)
def any_number_of_folds(num_samples, num_folds, rng, right=k_fold_indices):
    if 2 <= num_folds <= num_samples:
        return right(num_samples, num_folds, rng)
    order = rng.permutation(num_samples)
    parts = [order[i :: max(num_folds, 1)] for i in range(num_folds)]
    return [(np.setdiff1d(order, part), part) for part in parts]


@mistake(
    criterion="stratified-k-fold",
    replaces="stratified_k_fold_indices",
    text="The classes were not looked at: these are ordinary folds.",
    fix="Deal each class for itself, so that every fold gets its share.",
)
def classes_ignored(y, num_folds, rng, right=stratified_k_fold_indices):
    right(y, num_folds, np.random.default_rng(0))
    return k_fold_indices(len(y), num_folds, rng)


@mistake(
    criterion="stratified-k-fold",
    replaces="stratified_k_fold_indices",
    text="Each class was dealt from the first fold on, which gets more than the last.",
    fix="Go on with the next fold where the class before has ended.",
)
def always_from_the_first_fold(y, num_folds, rng, right=stratified_k_fold_indices):
    right(y, num_folds, np.random.default_rng(0))
    members = [rng.permutation(np.flatnonzero(y == label)) for label in np.unique(y)]
    parts = [np.concatenate([each[i::num_folds] for each in members]) for i in range(num_folds)]
    return [(np.setdiff1d(np.arange(len(y)), part), part) for part in parts]


@mistake(
    criterion="stratified-k-fold",
    replaces="stratified_k_fold_indices",
    text="The members of a class were dealt in the order in which they stand.",
    fix="Shuffle first, with rng, then sort by class and deal.",
)
def members_not_shuffled(y, num_folds, rng, right=stratified_k_fold_indices):
    right(y, num_folds, np.random.default_rng(0))
    order = np.argsort(y, kind="stable")
    parts = [order[i::num_folds] for i in range(num_folds)]
    return [(np.setdiff1d(order, part), part) for part in parts]


@mistake(
    criterion="stratified-k-fold",
    replaces="stratified_k_fold_indices",
    text="The samples were sorted by class and cut into blocks: a fold holds one class or two.",
    fix="Deal the sorted samples one by one: order[i::num_folds].",
)
def blocks_of_classes(y, num_folds, rng, right=stratified_k_fold_indices):
    right(y, num_folds, np.random.default_rng(0))
    order = rng.permutation(len(y))
    order = order[np.argsort(y[order])]
    return [(np.setdiff1d(order, part), part) for part in np.array_split(order, num_folds)]


@mistake(
    criterion="stratified-k-fold",
    replaces="stratified_k_fold_indices",
    text="A class with fewer samples than folds was refused.",
    fix="Deal it like the others: some folds have none of it then.",
)
def small_classes_refused(y, num_folds, rng, right=stratified_k_fold_indices):
    if y.ndim == 1 and np.min(np.unique(y, return_counts=True)[1], initial=num_folds) < num_folds:
        raise ValueError("y: a class has fewer samples than there are folds")
    return right(y, num_folds, rng)


@mistake(
    criterion="stratified-k-fold",
    replaces="stratified_k_fold_indices",
    text="Classes in a table, with more axes than one, were flattened.",
    fix="Raise ValueError unless y.ndim is 1.",
)
def flattened_classes(y, num_folds, rng, right=stratified_k_fold_indices):
    return right(y.ravel(), num_folds, rng)


@mistake(
    criterion="stratified-k-fold",
    replaces="stratified_k_fold_indices",
    text="The numbers in the pairs count within each class, not within y.",
    fix="Take np.flatnonzero(y == label) as the members of a class, and shuffle these.",
)
def numbers_within_the_class(y, num_folds, rng, right=stratified_k_fold_indices):
    right(y, num_folds, np.random.default_rng(0))
    members = [rng.permutation(int(np.sum(y == label))) for label in np.unique(y)]
    parts = [np.concatenate([each[i::num_folds] for each in members]) for i in range(num_folds)]
    return [(np.setdiff1d(np.arange(len(y)), part), part) for part in parts]


@mistake(
    criterion="cross-validation",
    replaces="cross_val_score",
    text="The models were fitted to all samples, those of the test included.",
    fix="Give fit the rows of train only: X[train], y[train].",
)
def fitted_to_all(fit, score, X, y, folds, right=cross_val_score):
    return right(lambda a, b: fit(X, y), score, X, y, folds)


@mistake(
    criterion="cross-validation",
    replaces="cross_val_score",
    text="The models were scored on what they were fitted to.",
    fix="Give score the rows of test: X[test], y[test].",
)
def scored_on_train(fit, score, X, y, folds, right=cross_val_score):
    return right(fit, score, X, y, [(train, train) for train, _ in folds])


@mistake(
    criterion="cross-validation",
    replaces="cross_val_score",
    text="The parts are swapped: fitted to test, scored on train.",
    fix="The pairs are (train, test), in this order.",
)
def swapped_parts(fit, score, X, y, folds, right=cross_val_score):
    return right(fit, score, X, y, [(test, train) for train, test in folds])


@mistake(
    criterion="cross-validation",
    replaces="cross_val_score",
    text="The mean of the scores was returned.",
    fix="Return one score for each fold: their spread says how far to trust the mean.",
)
def mean_of_the_scores(fit, score, X, y, folds, right=cross_val_score):
    return np.mean(right(fit, score, X, y, folds))


@mistake(
    criterion="cross-validation",
    replaces="cross_val_score",
    text="One model, that of the first fold, was scored on all folds.",
    fix="Call fit anew for each fold.",
)
def one_model_for_all(fit, score, X, y, folds, right=cross_val_score):
    models = []

    def first(a, b):
        if not models:
            models.append(fit(a, b))
        return models[0]

    return right(first, score, X, y, folds)


@mistake(
    criterion="cross-validation",
    replaces="cross_val_score",
    text="An empty list of folds gave an empty array of scores.",
    fix="Raise ValueError if there are no folds.",
)
def no_folds_no_scores(fit, score, X, y, folds, right=cross_val_score):
    return right(fit, score, X, y, folds) if len(folds) else np.array([])


@mistake(
    criterion="dropout",
    replaces="dropout",
    text="What is kept was not scaled up, so the sums shrink in training.",
    fix="Divide the mask by 1 - rate.",
)
def not_scaled(x, rate, rng, training=True, right=dropout):
    _, mask = right(x, rate, rng, training)
    return x * (mask > 0), (mask > 0).astype(x.dtype)


@mistake(
    criterion="dropout",
    replaces="dropout",
    text="rate was taken as the share that is kept.",
    fix="Keep an entry where its random number is at least rate, and divide by 1 - rate.",
)
def rate_is_kept(x, rate, rng, training=True, right=dropout):
    return right(x, 1 - rate if rate > 0 else rate, rng, training)


@mistake(
    criterion="dropout",
    replaces="dropout",
    text="What is kept was divided by rate.",
    fix="Divide by 1 - rate, the share that is kept.",
)
def divided_by_rate(x, rate, rng, training=True, right=dropout):
    _, mask = right(x, rate, rng, training)
    scale = (1 - rate) / rate if training and rate > 0 else 1
    return x * mask * scale, mask * scale


@mistake(
    criterion="dropout",
    replaces="dropout",
    text="Entries were dropped after training, too.",
    fix="With training=False return x as it is, and a mask of ones.",
)
def always_in_training(x, rate, rng, training=True, right=dropout):
    return right(x, rate, rng)


@mistake(
    criterion="dropout",
    replaces="dropout",
    text="After training, values were multiplied by 1 - rate; inverted dropout has done that in training already.",
    fix="With training=False return x as it is, and a mask of ones.",
)
def scaled_after_training(x, rate, rng, training=True, right=dropout):
    y, mask = right(x, rate, rng, training)
    return (y, mask) if training else (y * (1 - rate), mask * (1 - rate))


@mistake(
    criterion="dropout",
    replaces="dropout",
    text="One row of coins was used for all samples, so whole columns are dropped.",
    fix="Draw one random number for each entry: rng.random(x.shape).",
)
def one_row_of_coins(x, rate, rng, training=True, right=dropout):
    _, mask = right(x, rate, rng, training)
    mask = mask * 0 + mask[(0,) * (x.ndim - 1)]
    return x * mask, mask


@mistake(
    criterion="dropout",
    replaces="dropout",
    text="The same number of entries was dropped each time; they do not fall independently.",
    fix="Let each entry have its own chance: rng.random(x.shape) >= rate.",
)
def exact_share(x, rate, rng, training=True, right=dropout):
    if not training or not 0 <= rate < 1:
        return right(x, rate, rng, training)
    mask = np.full(x.size, 1 / (1 - rate), x.dtype)
    mask[rng.permutation(x.size)[: round(rate * x.size)]] = 0
    return x * mask.reshape(x.shape), mask.reshape(x.shape)


@mistake(
    criterion="dropout",
    replaces="dropout",
    text="The mask only says what was kept; the scale is missing from it.",
    fix="Return the factors themselves, 0 or 1 / (1 - rate), so that y = x * mask.",
)
def mask_without_scale(x, rate, rng, training=True, right=dropout):
    y, mask = right(x, rate, rng, training)
    return y, (mask > 0).astype(x.dtype)


@mistake(
    criterion="dropout",
    replaces="dropout",
    text="A generator of its own was used, so that every call drops the same entries.",
    fix="Draw from the argument rng.",
)
def same_coins_again(x, rate, rng, training=True, right=dropout):
    return right(x, rate, np.random.default_rng(0), training)


@mistake(
    criterion="dropout",
    replaces="dropout",
    text="A rate of 1 went through: all is dropped, and 1 / (1 - rate) is infinite.",
    fix="Raise ValueError unless 0 <= rate < 1.",
)
def everything_dropped(x, rate, rng, training=True, right=dropout):
    return (x * 0, x * 0) if rate == 1 else right(x, rate, rng, training)


@mistake(
    criterion="dropout-backward",
    replaces="dropout_backward",
    text="The gradient went through as if nothing had been dropped.",
    fix="Multiply it by the mask of the forward pass.",
)
def mask_forgotten(grad_output, mask, right=dropout_backward):
    right(grad_output, mask)
    return grad_output


@mistake(
    criterion="dropout-backward",
    replaces="dropout_backward",
    text="What was dropped is 0, but the scale of the rest is missing.",
    fix="Multiply by mask itself: it holds 1 / (1 - rate).",
)
def scale_forgotten(grad_output, mask, right=dropout_backward):
    return right(grad_output, (mask > 0).astype(mask.dtype))


@mistake(
    criterion="dropout-backward",
    replaces="dropout_backward",
    text="The gradient was divided by the scale.",
    fix="Multiply by mask: where y = x mask, the slope is mask, not 1 / mask.",
)
def divided_by_the_scale(grad_output, mask, right=dropout_backward):
    return right(grad_output, np.where(mask == 0, 0, 1 / np.where(mask == 0, 1, mask)))


@mistake(
    criterion="dropout-backward",
    replaces="dropout_backward",
    text="The scale was applied twice.",
    fix="Multiply by mask once; it holds the scale already.",
)
def scaled_twice(grad_output, mask, right=dropout_backward):
    return right(grad_output, mask**2)


@mistake(
    criterion="dropout-backward",
    replaces="dropout_backward",
    text="A mask of another shape was stretched to fit.",
    fix="Raise ValueError unless grad_output.shape is mask.shape.",
)
def stretched_mask(grad_output, mask):
    return grad_output * mask


@mistake(
    criterion="early-stopping",
    replaces="early_stopping",
    text="Each loss was compared with the one before, not with the best so far.",
    fix="Keep the best loss, and compare with that.",
)
def compared_with_the_last(losses, patience, min_delta=0.0, right=early_stopping):
    right(losses, patience, min_delta)
    best_epoch = 0
    for epoch in range(1, len(losses)):
        if losses[epoch] < losses[epoch - 1] - min_delta:
            best_epoch = epoch
        if epoch - best_epoch == patience:
            return epoch, best_epoch
    return len(losses) - 1, best_epoch


@mistake(
    criterion="early-stopping",
    replaces="early_stopping",
    text="The epochs without improvement were counted from the start, and not anew after each better one.",
    fix="Set the count to 0 when an epoch improves.",
)
def count_never_reset(losses, patience, min_delta=0.0, right=early_stopping):
    right(losses, patience, min_delta)
    best_epoch = waited = 0
    for epoch in range(1, len(losses)):
        if losses[epoch] < losses[best_epoch] - min_delta:
            best_epoch = epoch
        else:
            waited += 1
        if waited == patience:
            return epoch, best_epoch
    return len(losses) - 1, best_epoch


@mistake(
    criterion="early-stopping",
    replaces="early_stopping",
    text="It waits one epoch too long.",
    fix="Stop at the epoch that is patience after the best one: epoch - best_epoch == patience.",
)
def one_epoch_late(losses, patience, min_delta=0.0, right=early_stopping):
    right(losses, patience, min_delta)
    return right(losses, patience + 1, min_delta)


@mistake(
    criterion="early-stopping",
    replaces="early_stopping",
    text="It stops one epoch too soon.",
    fix="Stop at the epoch that is patience after the best one: epoch - best_epoch == patience.",
)
def one_epoch_soon(losses, patience, min_delta=0.0, right=early_stopping):
    right(losses, patience, min_delta)
    return right(losses, max(patience - 1, 1), min_delta)


@mistake(
    criterion="early-stopping",
    replaces="early_stopping",
    text="min_delta was not used.",
    fix="Count an epoch as better only if loss < best - min_delta.",
)
def any_improvement_counts(losses, patience, min_delta=0.0, right=early_stopping):
    right(losses, patience, min_delta)
    return right(losses, patience)


@mistake(
    criterion="early-stopping",
    replaces="early_stopping",
    text="min_delta was added to the best loss, so that an epoch counts as better although its loss is higher.",
    fix="Subtract it: loss < best - min_delta.",
)
def worse_is_better(losses, patience, min_delta=0.0, right=early_stopping):
    right(losses, patience, min_delta)
    best_epoch = 0
    for epoch in range(1, len(losses)):
        best = losses[best_epoch]
        if losses[epoch] < best + min_delta or (np.isnan(best) and not np.isnan(losses[epoch])):
            best_epoch = epoch
        elif epoch - best_epoch >= patience:
            return epoch, best_epoch
    return len(losses) - 1, best_epoch


@mistake(
    criterion="early-stopping",
    replaces="early_stopping",
    text="An epoch that is as good as the best, or better by exactly min_delta, was taken as an improvement.",
    fix="Use <, not <=: loss < best - min_delta.",
)
def equal_is_better(losses, patience, min_delta=0.0, right=early_stopping):
    right(losses, patience, min_delta)
    best_epoch = 0
    for epoch in range(1, len(losses)):
        if losses[epoch] <= losses[best_epoch] - min_delta or losses[best_epoch] != losses[best_epoch]:
            best_epoch = epoch
        if epoch - best_epoch == patience:
            return epoch, best_epoch
    return len(losses) - 1, best_epoch


@mistake(
    criterion="early-stopping",
    replaces="early_stopping",
    text="The best loss followed every small step down, so that a slow descent never counts.",
    fix="Change the best loss only together with the best epoch.",
)
def best_creeps_down(losses, patience, min_delta=0.0, right=early_stopping):
    right(losses, patience, min_delta)
    best, best_epoch = losses[0], 0
    for epoch in range(1, len(losses)):
        if losses[epoch] < best - min_delta:
            best_epoch = epoch
        best = min(best, losses[epoch])
        if epoch - best_epoch == patience:
            return epoch, best_epoch
    return len(losses) - 1, best_epoch


@mistake(
    criterion="early-stopping",
    replaces="early_stopping",
    text="min_delta was taken as a share of the best loss.",
    fix="Subtract min_delta itself: loss < best - min_delta.",
)
def share_of_the_best_loss(losses, patience, min_delta=0.0, right=early_stopping):
    right(losses, patience, min_delta)
    best_epoch = 0
    for epoch in range(1, len(losses)):
        best = losses[best_epoch]
        if losses[epoch] < best - min_delta * np.abs(best) or np.isnan(best) > np.isnan(losses[epoch]):
            best_epoch = epoch
        if epoch - best_epoch == patience:
            return epoch, best_epoch
    return len(losses) - 1, best_epoch


@mistake(
    criterion="early-stopping",
    replaces="early_stopping",
    text="Where it never has to stop, the epoch of the least loss was returned, whatever min_delta is.",
    fix="Return the best epoch that was kept on the way: it changes only where loss < best - min_delta.",
)
def least_loss_at_the_end(losses, patience, min_delta=0.0, right=early_stopping):
    stop_epoch, best_epoch = right(losses, patience, min_delta)
    return stop_epoch, best_epoch if stop_epoch - best_epoch == patience else int(np.argmin(losses))


@mistake(
    criterion="early-stopping",
    replaces="early_stopping",
    text="The pair is (best_epoch, stop_epoch).",
    fix="Return stop_epoch first.",
)
def best_comes_first(losses, patience, min_delta=0.0, right=early_stopping):
    return right(losses, patience, min_delta)[::-1]


@mistake(
    criterion="early-stopping",
    replaces="early_stopping",
    text="The best loss was returned, not its epoch.",
    fix="Return the number of the epoch, counted from 0.",
)
def loss_for_its_epoch(losses, patience, min_delta=0.0, right=early_stopping):
    stop_epoch, best_epoch = right(losses, patience, min_delta)
    return stop_epoch, losses[best_epoch]


@mistake(
    criterion="early-stopping",
    replaces="early_stopping",
    text="Epochs were counted from 1.",
    fix="Count from 0: the first epoch is number 0.",
)
def counted_from_one(losses, patience, min_delta=0.0, right=early_stopping):
    stop_epoch, best_epoch = right(losses, patience, min_delta)
    return stop_epoch + 1, best_epoch + 1


@mistake(
    criterion="early-stopping",
    replaces="early_stopping",
    text="stop_epoch is the number of epochs that were run, which is one more than the number of the last of them.",
    fix="Return the number of the epoch at which it stops, counted from 0.",
)
def epochs_that_were_run(losses, patience, min_delta=0.0, right=early_stopping):
    stop_epoch, best_epoch = right(losses, patience, min_delta)
    return stop_epoch + 1, best_epoch


@mistake(
    criterion="early-stopping",
    replaces="early_stopping",
    text="Where it never has to stop, the number of epochs was returned, which is one too many.",
    fix="Return the last epoch, len(losses) - 1.",
)
def past_the_last_epoch(losses, patience, min_delta=0.0, right=early_stopping):
    stop_epoch, best_epoch = right(losses, patience, min_delta)
    return (stop_epoch if stop_epoch - best_epoch == patience else len(losses)), best_epoch


@mistake(
    criterion="early-stopping",
    replaces="early_stopping",
    text="A patience below 1 went through.",
    fix="Raise ValueError if patience is below 1.",
)
def no_patience(losses, patience, min_delta=0.0, right=early_stopping):
    return right(losses, max(patience, 1), min_delta)


@mistake(
    criterion="early-stopping",
    replaces="early_stopping",
    text="A first loss of NaN stayed the best for ever: nothing is below NaN.",
    fix="Let any finite loss improve on NaN.",
)
def nan_stays_best(losses, patience, min_delta=0.0, right=early_stopping):
    right(losses, patience, min_delta)
    best_epoch = 0
    for epoch in range(1, len(losses)):
        if losses[epoch] < losses[best_epoch] - min_delta:
            best_epoch = epoch
        if epoch - best_epoch == patience:
            return epoch, best_epoch
    return len(losses) - 1, best_epoch


@mistake(
    criterion="early-stopping",
    replaces="early_stopping",
    text="A loss of NaN was taken as an improvement.",
    fix="Ask loss < best - min_delta, which is false for a loss of NaN; not (loss >= ...) is true for it.",
)
def nan_is_better(losses, patience, min_delta=0.0, right=early_stopping):
    right(losses, patience, min_delta)
    best_epoch = 0
    for epoch in range(1, len(losses)):
        if not losses[epoch] >= losses[best_epoch] - min_delta:
            best_epoch = epoch
        if epoch - best_epoch == patience:
            return epoch, best_epoch
    return len(losses) - 1, best_epoch


@mistake(
    criterion="early-stopping",
    replaces="early_stopping",
    text="The first loss of NaN ended the training.",
    fix="Go on: an epoch with a loss of NaN does not improve, and patience decides as for every other one.",
)
def ended_by_nan(losses, patience, min_delta=0.0, right=early_stopping):
    right(losses, patience, min_delta)
    first = np.flatnonzero(np.isnan(losses))[:1]
    return right(losses[: first[0] + 1] if len(first) else losses, patience, min_delta)


@mistake(
    criterion="ridge-penalty",
    replaces="ridge_gradient",
    text="The slopes were put into an array of the dtype of the weights: of whole numbers, every fraction is cut off.",
    fix="np.zeros_like(weights) holds integers where weights does: return 2 * alpha * weights as it is.",
)
def ridge_slopes_in_the_dtype_of_weights(weights, alpha, right=ridge_gradient):
    return right(weights, alpha).astype(weights.dtype)


@mistake(
    criterion="lasso-penalty",
    replaces="lasso_penalty",
    text="The penalty has the dtype of the weights: of whole numbers, its fraction is cut off.",
    fix="alpha times a sum is a float, also where the weights are whole numbers: return it as it is.",
)
def penalty_in_the_dtype_of_weights(weights, alpha, right=lasso_penalty):
    return np.asarray(right(weights, alpha)).astype(weights.dtype)


@mistake(
    criterion="soft-threshold",
    replaces="soft_threshold",
    text="The result was put into an array of the dtype of z: of whole numbers, every fraction is cut off.",
    fix="np.zeros_like(z) holds integers where z does: give it dtype=float, or calculate with whole arrays.",
)
def shrunk_in_the_dtype_of_z(z, threshold, right=soft_threshold):
    return np.asarray(right(z, threshold)).astype(np.asarray(z).dtype)


@mistake(
    criterion="elastic-net",
    replaces="elastic_net_gradient",
    text="The slopes were put into an array of the dtype of the weights: of whole numbers, every fraction is cut off.",
    fix="np.zeros_like(weights) holds integers where weights does: give it dtype=float, or return the whole sum.",
)
def mixture_in_the_dtype_of_weights(weights, alpha, l1_ratio, right=elastic_net_gradient):
    return right(weights, alpha, l1_ratio).astype(weights.dtype)
