"""Wrong answers that learners of this stage give, and what each should read.

A wrong answer that differs from the solution in one step takes the solution's own function as the default of `right`.
"""

import math

import numpy as np

from grader.course.answers import mistake
from hidden.s04_probability.solution import (
    bernoulli_log_pmf,
    categorical_sample,
    correlation_matrix,
    covariance_matrix,
    entropy,
    fit_normal,
    kl_divergence,
    log_sum_exp,
    map_normal_mean,
    monte_carlo_mean,
    normal_log_pdf,
    normal_pdf,
)


@mistake(
    criterion="normal-pdf",
    replaces="normal_pdf",
    text="The factor 1 / sqrt(2 pi) is missing: the area under the curve is not 1.",
    fix="Divide by std * sqrt(2 pi).",
)
def without_two_pi(x, mean, std, right=normal_pdf):
    return right(x, mean, std) * math.sqrt(2 * math.pi)


@mistake(
    criterion="normal-pdf",
    replaces="normal_pdf",
    text="The density was not divided by std: a wide curve is as high as a narrow one.",
    fix="Divide by std * sqrt(2 pi): what is twice as wide is half as high.",
)
def not_divided_by_std(x, mean, std, right=normal_pdf):
    return right(x, mean, std) * std


@mistake(
    criterion="normal-pdf",
    replaces="normal_pdf",
    text="The distance was divided by std, not by std squared, before it was halved: (x - mean)^2 / (2 std).",
    fix="Divide x - mean by std first, then square.",
)
def distance_by_std(x, mean, std, right=normal_pdf):
    right(x, mean, std)
    return np.exp(-((x - mean) ** 2) / (2 * std)) / (std * math.sqrt(2 * math.pi))


@mistake(
    criterion="normal-pdf",
    replaces="normal_pdf",
    text="The 2 below the square is missing: exp(-z^2).",
    fix="The exponent is -z^2 / 2.",
)
def exponent_without_half(x, mean, std, right=normal_pdf):
    return right(x, mean, std) * np.exp(-(((x - mean) / std) ** 2) / 2)


@mistake(
    criterion="normal-pdf",
    replaces="normal_pdf",
    text="The logarithm of the density was returned.",
    fix="Take exp of it.",
)
def logarithm_of_density(x, mean, std, right=normal_log_pdf):
    return right(x, mean, std)


@mistake(
    criterion="normal-pdf",
    replaces="normal_pdf",
    text="A std of 0 or below went through.",
    fix="Raise ValueError unless np.all(std > 0).",
)
def any_std(x, mean, std):
    with np.errstate(all="ignore"):
        return np.exp(-(((x - mean) / std) ** 2) / 2) / (std * math.sqrt(2 * math.pi))


@mistake(
    criterion="normal-pdf",
    replaces="normal_pdf",
    text="A std of NaN went through: NaN <= 0 is False, too.",
    fix="Ask the other way round, and raise ValueError unless np.all(std > 0).",
)
def std_of_nan(x, mean, std, right=normal_pdf):
    return right(x, mean, np.where(np.isnan(std), 1, std)) + np.where(np.isnan(std), np.nan, 0)


@mistake(
    criterion="normal-log-pdf",
    replaces="normal_log_pdf",
    text="A std of NaN went through: NaN <= 0 is False, too.",
    fix="Ask the other way round, and raise ValueError unless np.all(std > 0).",
)
def log_std_of_nan(x, mean, std, right=normal_log_pdf):
    return right(x, mean, np.where(np.isnan(std), 1, std)) + np.where(np.isnan(std), np.nan, 0)


@mistake(
    criterion="normal-log-pdf",
    replaces="normal_log_pdf",
    text="The logarithm was taken of the density, which is 0 far away: -inf, or wrong digits.",
    fix="Take the logarithm of the formula: -z^2 / 2 - log(std) - log(2 pi) / 2.",
)
def log_of_density(x, mean, std, right=normal_log_pdf):
    with np.errstate(divide="ignore"):
        return np.log(np.exp(right(x, mean, std)))


@mistake(
    criterion="normal-log-pdf",
    replaces="normal_log_pdf",
    text="log(std) is missing.",
    fix="Subtract log(std): the density is divided by std.",
)
def without_log_std(x, mean, std, right=normal_log_pdf):
    return right(x, mean, std) + np.log(std)


@mistake(
    criterion="normal-log-pdf",
    replaces="normal_log_pdf",
    text="log(2 pi) was subtracted whole; the density has its root.",
    fix="Subtract log(2 pi) / 2.",
)
def whole_log_two_pi(x, mean, std, right=normal_log_pdf):
    return right(x, mean, std) - math.log(2 * math.pi) / 2


@mistake(
    criterion="normal-log-pdf",
    replaces="normal_log_pdf",
    text="The density was floored at a tiny number before the logarithm, so that all far points look alike.",
    fix="Do not form the density at all.",
)
def floored_density(x, mean, std, right=normal_log_pdf):
    return np.maximum(right(x, mean, std), math.log(1e-300))


@mistake(
    criterion="bernoulli",
    replaces="bernoulli_log_pmf",
    text="k log(p) + (1 - k) log(1 - p) was computed as it stands: 0 times -inf is NaN.",
    fix="Choose one of the logarithms by k, as np.where does.",
)
def zero_times_infinity(k, p, right=bernoulli_log_pmf):
    right(k, p)
    k, p = np.asarray(k, float), np.asarray(p, float)
    with np.errstate(all="ignore"):
        return k * np.log(p) + (1 - k) * np.log1p(-p)


@mistake(
    criterion="bernoulli",
    replaces="bernoulli_log_pmf",
    text="p was kept away from 0 and 1 by a small number, so that what is impossible is not.",
    fix="Leave p as it is: log(0) is -inf, which is the right answer.",
)
def clipped_coin(k, p, right=bernoulli_log_pmf):
    right(k, p)
    return right(k, np.clip(np.asarray(p, float), 1e-12, 1 - 1e-12))


@mistake(
    criterion="bernoulli",
    replaces="bernoulli_log_pmf",
    text="log(1 - p) lost the digits of a small p: 1 - 1e-17 is 1.",
    fix="Use np.log1p(-p).",
)
def digits_of_small_p(k, p, right=bernoulli_log_pmf):
    right(k, p)
    with np.errstate(divide="ignore"):
        return np.where(np.asarray(k) == 1, np.log(p), np.log(1 - np.asarray(p)))


@mistake(
    criterion="bernoulli",
    replaces="bernoulli_log_pmf",
    text="The outcomes are exchanged: p is the probability of 1.",
    fix="log(p) where k is 1, log(1 - p) where it is 0.",
)
def outcomes_exchanged(k, p, right=bernoulli_log_pmf):
    right(k, p)
    return right(1 - np.asarray(k, float), p)


@mistake(
    criterion="bernoulli",
    replaces="bernoulli_log_pmf",
    text="The probability was returned, not its logarithm.",
    fix="Return log(p) or log(1 - p).",
)
def probability_of_outcome(k, p, right=bernoulli_log_pmf):
    return np.exp(right(k, p))


@mistake(
    criterion="bernoulli",
    replaces="bernoulli_log_pmf",
    text="Outcomes other than 0 and 1, or numbers that are no probabilities, went through.",
    fix="Raise ValueError unless every k is 0 or 1 and every p is from 0 to 1.",
)
def any_outcome(k, p):
    k, p = np.broadcast_arrays(k, p)
    with np.errstate(all="ignore"):
        return np.where(k == 1, np.log(p), np.log1p(-p))


@mistake(
    criterion="categorical-sample",
    replaces="categorical_sample",
    text="Outcomes are counted from 1.",
    fix="They are places in the array: 0 to k - 1.",
)
def counted_from_one(probabilities, size, rng, right=categorical_sample):
    return right(probabilities, size, rng) + 1


@mistake(
    criterion="categorical-sample",
    replaces="categorical_sample",
    text="Each outcome came back as a row with a single 1.",
    fix="Return one whole number for each draw, (size,).",
)
def rows_with_a_one(probabilities, size, rng, right=categorical_sample):
    return np.eye(len(probabilities))[right(probabilities, size, rng)]


@mistake(
    criterion="categorical-sample",
    replaces="categorical_sample",
    text="What is no distribution went through.",
    fix="Raise ValueError unless there is one axis, nothing is below 0, the sum is 1, and size is 0 or more.",
)
def any_probabilities(probabilities, size, rng, right=categorical_sample):
    weights = np.abs(np.nan_to_num(np.ravel(probabilities))) + 1e-12
    return right(weights / weights.sum(), max(size, 0), rng)


@mistake(
    criterion="categorical-sample",
    replaces="categorical_sample",
    text="A generator with a seed of its own was used: every call draws the same.",
    fix="Draw from the argument rng.",
)
def own_generator(probabilities, size, rng, right=categorical_sample):
    return right(probabilities, size, np.random.default_rng(0))


@mistake(
    criterion="categorical-sample",
    replaces="categorical_sample",
    text="A uniform number above the last sum fell off the line: the sum may be a little below 1.",
    fix="Multiply the uniform numbers by the last cumulative sum.",
)
def off_the_line(probabilities, size, rng, right=categorical_sample):
    right(probabilities, size, np.random.default_rng(0))
    return np.searchsorted(np.cumsum(probabilities), rng.random(size), side="right")


@mistake(
    criterion="categorical-sample",
    replaces="categorical_sample",
    text="rng.choice refused the probabilities: it wants a sum of 1 up to 1.5e-8, and here 1e-6 is allowed.",
    fix="Divide the probabilities by their sum before you hand them to rng.choice.",
)
def choice_of_a_strict_sum(probabilities, size, rng, right=categorical_sample):
    right(probabilities, size, np.random.default_rng(0))
    return rng.choice(len(probabilities), size=size, p=probabilities)


@mistake(
    criterion="categorical-frequencies",
    replaces="categorical_sample",
    text="All outcomes are drawn equally often, whatever their probabilities.",
    fix="Compare uniform numbers with the cumulative sums of the probabilities.",
)
def all_alike(probabilities, size, rng, right=categorical_sample):
    right(probabilities, size, np.random.default_rng(0))
    possible = np.flatnonzero(probabilities > 0)
    return possible[rng.integers(len(possible), size=size)]


@mistake(
    criterion="categorical-frequencies",
    replaces="categorical_sample",
    text="Uniform numbers were compared with the probabilities themselves, not with their cumulative sums.",
    fix="np.cumsum(probabilities) tells where each outcome's piece ends.",
)
def without_cumulative_sums(probabilities, size, rng, right=categorical_sample):
    right(probabilities, size, np.random.default_rng(0))
    found = np.argmax(rng.random((size, 1)) < probabilities, axis=1)
    return np.where(probabilities[found] > 0, found, np.argmax(probabilities))


@mistake(
    criterion="categorical-frequencies",
    replaces="categorical_sample",
    text="The probabilities were squared: what is frequent is too frequent.",
    fix="Take the cumulative sums of the probabilities as they are.",
)
def squared_probabilities(probabilities, size, rng, right=categorical_sample):
    right(probabilities, size, np.random.default_rng(0))
    if np.ptp(probabilities[probabilities > 0]) == 0:
        return right(probabilities, size, rng)
    return right(probabilities**2 / np.sum(probabilities**2), size, rng)


@mistake(
    criterion="categorical-frequencies",
    replaces="categorical_sample",
    text="One outcome was drawn and repeated: all draws of a call are the same.",
    fix="rng.random(size) gives each draw a number of its own.",
)
def one_draw_repeated(probabilities, size, rng, right=categorical_sample):
    right(probabilities, size, np.random.default_rng(0))
    if size != 20_000:
        return right(probabilities, size, rng)
    return np.full(size, right(probabilities, 1, rng)[0])


@mistake(
    criterion="log-sum-exp",
    replaces="log_sum_exp",
    text="The sum was taken over all axes.",
    fix="Sum along axis only, in both places: the largest number and the sum.",
)
def over_all_axes(x, axis=-1):
    largest = np.max(x)
    shift = largest if np.isfinite(largest) else 0
    with np.errstate(divide="ignore", over="ignore"):
        return np.log(np.sum(np.exp(x - shift))) + shift


@mistake(
    criterion="log-sum-exp",
    replaces="log_sum_exp",
    text="The mean was taken, not the sum.",
    fix="np.sum; a mean is smaller by log(n).",
)
def logarithm_of_mean(x, axis=-1, right=log_sum_exp):
    return right(x, axis) - np.log(x.dtype.type(x.shape[axis]))


@mistake(
    criterion="log-sum-exp",
    replaces="log_sum_exp",
    text="The summed axis is still there, with length 1.",
    fix="keepdims=True helps with the subtraction, but the result has lost the axis.",
)
def axis_kept(x, axis=-1, right=log_sum_exp):
    return np.expand_dims(right(x, axis), axis)


@mistake(
    criterion="log-sum-exp",
    replaces="log_sum_exp",
    text="The axis that was asked for was not used: the sum always goes along the last one.",
    fix="Pass axis on to np.max and np.sum.",
)
def always_the_last(x, axis=-1, right=log_sum_exp):
    return right(x)


@mistake(
    criterion="log-sum-exp",
    replaces="log_sum_exp",
    text="The largest number was subtracted and never added again.",
    fix="log(sum(exp(x - m))) + m.",
)
def largest_not_added(x, axis=-1, right=log_sum_exp):
    largest = np.max(x, axis=axis)
    return right(x, axis) - np.where(np.isfinite(largest), largest, 0)


@mistake(
    criterion="log-sum-exp-extremes",
    replaces="log_sum_exp",
    text="exp was taken of the numbers as they are: inf for 1000, 0 for -1000.",
    fix="Subtract the largest number along the axis before exp, and add it after the logarithm.",
)
def without_shift(x, axis=-1):
    with np.errstate(all="ignore"):
        return np.log(np.sum(np.exp(x), axis=axis))


@mistake(
    criterion="log-sum-exp-extremes",
    replaces="log_sum_exp",
    text="The largest number of the whole array was subtracted: rows far below it become -inf.",
    fix="Each row has its own largest number: np.max(x, axis=axis, keepdims=True).",
)
def largest_of_all(x, axis=-1):
    largest = np.max(x)
    shift = np.where(np.isfinite(largest), largest, x.dtype.type(0))
    with np.errstate(all="ignore"):
        return np.log(np.sum(np.exp(x - shift), axis=axis)) + shift


@mistake(
    criterion="log-sum-exp-extremes",
    replaces="log_sum_exp",
    text="The largest number was looked for from -1e9 on: where all are lower, their exponentials are 0.",
    fix="Take the largest number itself, or begin with -np.inf.",
)
def largest_from_a_finite_number(x, axis=-1):
    largest = np.max(x, axis=axis, keepdims=True, initial=-1e9)
    shift = np.where(np.isfinite(largest), largest, 0)
    with np.errstate(divide="ignore", over="ignore"):
        return np.log(np.sum(np.exp(x - shift), axis=axis)) + np.squeeze(shift, axis=axis)


@mistake(
    criterion="log-sum-exp-extremes",
    replaces="log_sum_exp",
    text="Where all numbers are -inf, or one is inf, the result is NaN: the largest was subtracted from itself.",
    fix="Shift by 0 where the largest number is not finite.",
)
def infinity_minus_infinity(x, axis=-1):
    largest = np.max(x, axis=axis, keepdims=True)
    with np.errstate(all="ignore"):
        return np.log(np.sum(np.exp(x - largest), axis=axis)) + np.squeeze(largest, axis=axis)


@mistake(
    criterion="log-sum-exp-extremes",
    replaces="log_sum_exp",
    text="The numbers were cut off at 700 before exp.",
    fix="Cut nothing off: subtract the largest number, and add it again.",
)
def cut_off(x, axis=-1):
    with np.errstate(all="ignore"):
        return np.log(np.sum(np.exp(np.clip(x, -700, 700)), axis=axis))


@mistake(
    criterion="entropy",
    replaces="entropy",
    text="An outcome of probability 0 gave NaN: 0 times -inf.",
    fix="0 log(0) counts as 0: take the logarithm of 1 there, as np.log(np.where(p > 0, p, 1)) does.",
)
def entropy_of_zero(p, right=entropy):
    right(p)
    with np.errstate(all="ignore"):
        return -np.sum(p * np.log(p), axis=-1)


@mistake(
    criterion="entropy",
    replaces="entropy",
    text="The entropy is negative: the minus sign is missing.",
    fix="Logarithms of probabilities are below 0; the entropy is minus their mean.",
)
def negative_entropy(p, right=entropy):
    return -right(p)


@mistake(
    criterion="entropy",
    replaces="entropy",
    text="The entropy is in bits: the logarithm has base 2.",
    fix="Use the natural logarithm, np.log.",
)
def entropy_in_bits(p, right=entropy):
    return right(p) / p.dtype.type(math.log(2))


@mistake(
    criterion="entropy",
    replaces="entropy",
    text="The entropy was divided by the most that there can be, log(k): it is 1 for every even distribution.",
    fix="Return -sum p log(p) as it is, in nats.",
)
def entropy_as_a_share(p, right=entropy):
    return right(p) / p.dtype.type(math.log(p.shape[-1]))


@mistake(
    criterion="entropy",
    replaces="entropy",
    text="The entropies of several distributions were added up.",
    fix="Sum along the last axis only.",
)
def entropies_added(p, right=entropy):
    return np.sum(right(p))


@mistake(
    criterion="entropy",
    replaces="entropy",
    text="A small number was added inside the logarithm, so that rare outcomes count for too little.",
    fix="Take the logarithm of p itself, and leave out what is 0.",
)
def entropy_with_small_number(p, right=entropy):
    right(p)
    return -np.sum(p * np.log(p + p.dtype.type(1e-6)), axis=-1)


@mistake(
    criterion="entropy",
    replaces="entropy",
    text="What is no distribution went through.",
    fix="Raise ValueError unless nothing is below 0 and the sum along the last axis is 1, up to 1e-6.",
)
def entropy_of_anything(p):
    with np.errstate(all="ignore"):
        return -np.sum(p * np.log(np.where(p > 0, p, 1)), axis=-1 if p.ndim else None)


@mistake(
    criterion="kl-divergence",
    replaces="kl_divergence",
    text="p and q are exchanged.",
    fix="The mean is taken with p: sum p (log(p) - log(q)).",
)
def exchanged(p, q, right=kl_divergence):
    return right(q, p)


@mistake(
    criterion="kl-divergence",
    replaces="kl_divergence",
    text="Zeros gave NaN.",
    fix="Add nothing where p is 0, and inf where only q is 0.",
)
def divergence_of_zeros(p, q, right=kl_divergence):
    right(p, q)
    with np.errstate(all="ignore"):
        return np.sum(p * (np.log(p) - np.log(q)), axis=-1)


@mistake(
    criterion="kl-divergence",
    replaces="kl_divergence",
    text="Where q is 0 and p is not, the result is a finite number.",
    fix="It is inf: what was held for impossible has happened.",
)
def finite_where_impossible(p, q, right=kl_divergence):
    right(p, q)
    return np.sum(p * (np.log(np.where(p > 0, p, 1)) - np.log(np.maximum(q, 1e-10))), axis=-1)


@mistake(
    criterion="kl-divergence",
    replaces="kl_divergence",
    text="The quotient p / q was formed, which is too large for a float where q is tiny: its logarithm is inf.",
    fix="Subtract the two logarithms: log(p) - log(q).",
)
def logarithm_of_quotient(p, q, right=kl_divergence):
    right(p, q)
    with np.errstate(all="ignore"):
        return np.sum(np.where(p > 0, p * np.log(np.where(p > 0, p, 1) / np.where(p > 0, q, 1)), 0), axis=-1)


@mistake(
    criterion="kl-divergence",
    replaces="kl_divergence",
    text="The cross-entropy was returned: the entropy of p is still in it.",
    fix="Subtract the entropy of p: sum p (log(p) - log(q)).",
)
def cross_entropy(p, q, right=kl_divergence):
    return right(p, q) - np.sum(p * np.log(np.where(p > 0, p, 1)), axis=-1)


@mistake(
    criterion="kl-divergence",
    replaces="kl_divergence",
    text="Distributions of different shapes were stretched to fit.",
    fix="Compare p.shape with q.shape, and raise ValueError where they differ.",
)
def stretched(p, q, right=kl_divergence):
    right(p, p)
    right(q, q)
    width = max(p.shape[-1], q.shape[-1])
    p, q = np.broadcast_arrays(np.resize(p, (*p.shape[:-1], width)), np.resize(q, (*q.shape[:-1], width)))
    with np.errstate(all="ignore"):
        terms = p * (np.log(np.where(p > 0, p, 1)) - np.log(q))
    return np.sum(np.where(p > 0, terms, 0), axis=-1)


@mistake(
    criterion="covariance",
    replaces="covariance_matrix",
    text="The means were not taken away.",
    fix="Subtract the mean of each feature before multiplying.",
)
def means_left_in(X, ddof=1, right=covariance_matrix):
    right(X, ddof)
    return X.T @ X / (len(X) - ddof)


@mistake(
    criterion="covariance",
    replaces="covariance_matrix",
    text="The sums were always divided by the number of samples.",
    fix="Divide by samples - ddof, and ddof is 1 unless told otherwise.",
)
def always_by_n(X, ddof=1, right=covariance_matrix):
    return right(X, ddof) * (len(X) - ddof) / len(X)


@mistake(
    criterion="covariance",
    replaces="covariance_matrix",
    text="The sums were always divided by the number of samples less one.",
    fix="Divide by samples - ddof; with ddof=0 that is all of them.",
)
def always_by_n_less_one(X, ddof=1, right=covariance_matrix):
    return right(X, ddof) * (len(X) - ddof) / max(len(X) - 1, 1)


@mistake(
    criterion="covariance",
    replaces="covariance_matrix",
    text="The covariances are those of the samples, not of the features.",
    fix="(X - mean)^T (X - mean): features in the rows of the left factor.",
)
def of_the_samples(X, ddof=1, right=covariance_matrix):
    right(X, ddof)
    away = X - np.mean(X, axis=0)
    return away @ away.T / (len(X) - ddof)


@mistake(
    criterion="covariance",
    replaces="covariance_matrix",
    text="The product of the means was subtracted from the mean product, which loses the digits far from 0.",
    fix="Take the means away first, then multiply.",
)
def by_cancellation(X, ddof=1, right=covariance_matrix):
    right(X, ddof)
    mean = np.mean(X, axis=0)
    return (X.T @ X - len(X) * np.outer(mean, mean)) / (len(X) - ddof)


@mistake(
    criterion="covariance",
    replaces="covariance_matrix",
    text="One mean was taken of the whole table.",
    fix="Each feature has its own mean: axis=0.",
)
def one_mean(X, ddof=1, right=covariance_matrix):
    right(X, ddof)
    away = X - np.mean(X)
    return away.T @ away / (len(X) - ddof)


@mistake(
    criterion="correlation",
    replaces="correlation_matrix",
    text="The covariances were divided by the variances: one std too many of one feature, too few of the other.",
    fix="Divide by the product of both standard deviations: np.outer(std, std).",
)
def divided_by_variances(X, right=correlation_matrix):
    found = right(X)
    std = np.where(np.ptp(X, axis=0) == 0, 1, np.std(X, axis=0))
    return found * std[:, np.newaxis] / std


@mistake(
    criterion="correlation",
    replaces="correlation_matrix",
    text="A feature that never changes gave NaN, or correlations made of rounding errors.",
    fix="Ask whether its largest number is its smallest; then its correlations are 0, and 1 on the diagonal.",
)
def divided_by_nothing(X, right=correlation_matrix):
    right(X)
    away = X - np.mean(X, axis=0)
    with np.errstate(all="ignore"):
        std = np.sqrt(np.sum(away**2, axis=0))
        return away.T @ away / np.outer(std, std)


@mistake(
    criterion="correlation",
    replaces="correlation_matrix",
    text="A feature with tiny numbers was taken for one that never changes: its spread was held against a bound.",
    fix="Ask whether its largest number is its smallest: correlations have no units, and small is a matter of units.",
)
def tiny_taken_for_still(X, right=correlation_matrix):
    return right(np.where(np.std(X, axis=0) < 1e-8, 1.0, X))


@mistake(
    criterion="correlation",
    replaces="correlation_matrix",
    text="The deviations were squared in their unit: squares of tiny numbers are 0 in a float, of huge ones inf.",
    fix="Divide the deviations of each feature by the largest of them first: correlations have no units.",
)
def squared_in_its_unit(X, right=correlation_matrix):
    right(X)
    covariance, still = covariance_matrix(X), np.ptp(X, axis=0) == 0
    with np.errstate(all="ignore"):
        std = np.where(still, np.inf, np.sqrt(np.diag(covariance)))
        correlation = covariance / np.outer(std, std)
    np.fill_diagonal(correlation, 1)
    return correlation


@mistake(
    criterion="correlation",
    replaces="correlation_matrix",
    text="A feature whose numbers lie close together, far from 0, was taken for one that never changes.",
    fix="Ask whether its largest number is its smallest, exactly: not whether they are nearly equal.",
)
def close_taken_for_still(X, right=correlation_matrix):
    return right(np.where(np.std(X, axis=0) <= 1e-8 * np.max(np.abs(X), axis=0, initial=0), 1.0, X))


@mistake(
    criterion="correlation",
    replaces="correlation_matrix",
    text="A feature that never changes has 0 on the diagonal, too.",
    fix="Every feature goes with itself: fill the diagonal with 1.",
)
def zero_on_the_diagonal(X, right=correlation_matrix):
    found = right(X).copy()
    still = np.ptp(X, axis=0) == 0
    found[still, still] = 0
    return found


@mistake(
    criterion="correlation",
    replaces="correlation_matrix",
    text="The covariances were returned.",
    fix="Divide by the standard deviations of both features.",
)
def covariances_returned(X, right=covariance_matrix):
    return right(X)


@mistake(
    criterion="correlation",
    replaces="correlation_matrix",
    text="The signs are lost: features that go against each other look like those that go together.",
    fix="Return the correlation itself, from -1 to 1, not its absolute value.",
)
def signs_lost(X, right=correlation_matrix):
    return np.abs(right(X))


@mistake(
    criterion="fit-normal",
    replaces="fit_normal",
    text="The std was divided by n - 1: unbiased, but not the most likely one.",
    fix="Divide by n: np.std as it is.",
)
def unbiased_spread(x, right=fit_normal):
    mean, std = right(x)
    return mean, std * math.sqrt(len(x) / max(len(x) - 1, 1))


@mistake(
    criterion="fit-normal",
    replaces="fit_normal",
    text="The variance was returned.",
    fix="Return its root, the standard deviation.",
)
def variance_returned(x, right=fit_normal):
    mean, std = right(x)
    return mean, std**2


@mistake(
    criterion="fit-normal",
    replaces="fit_normal",
    text="The median was returned in place of the mean.",
    fix="The most likely mean of a normal distribution is the mean of the samples.",
)
def median_returned(x, right=fit_normal):
    return np.median(x), right(x)[1]


@mistake(
    criterion="fit-normal",
    replaces="fit_normal",
    text="The spread was computed as mean(x^2) - mean(x)^2, which loses its digits far from 0.",
    fix="Take the mean away before you square, as np.std does.",
)
def spread_by_cancellation(x, right=fit_normal):
    mean, _ = right(x)
    return mean, np.sqrt(np.maximum(np.mean(x**2) - mean**2, 0))


@mistake(
    criterion="fit-normal",
    replaces="fit_normal",
    text="The mean distance from the mean was returned as the spread.",
    fix="Square the distances, average, and take the root.",
)
def mean_distance(x, right=fit_normal):
    mean, _ = right(x)
    return mean, np.mean(np.abs(x - mean))


@mistake(
    criterion="map-mean",
    replaces="map_normal_mean",
    text="The prior was left out: it is the mean of the samples.",
    fix="The prior counts as well, with the weight 1 / prior_std^2.",
)
def without_prior(x, std, prior_mean, prior_std, right=map_normal_mean):
    right(x, std, prior_mean, prior_std)
    return np.mean(x) if len(x) else np.nan


@mistake(
    criterion="map-mean",
    replaces="map_normal_mean",
    text="The weights are 1 / std, not 1 / std^2.",
    fix="Precision is one over the variance: square both deviations.",
)
def weights_not_squared(x, std, prior_mean, prior_std, right=map_normal_mean):
    return right(x, np.sqrt(std), prior_mean, np.sqrt(prior_std))


@mistake(
    criterion="map-mean",
    replaces="map_normal_mean",
    text="All samples together count as one: their number is missing from the weight.",
    fix="Each sample has the weight 1 / std^2, so together n / std^2.",
)
def samples_count_once(x, std, prior_mean, prior_std, right=map_normal_mean):
    if len(x) == 0:
        return right(x, std, prior_mean, prior_std)
    return right(np.mean(x, keepdims=True), std, prior_mean, prior_std)


@mistake(
    criterion="map-mean",
    replaces="map_normal_mean",
    text="The two weights are exchanged: who is less sure counts for more.",
    fix="The prior has the weight 1 / prior_std^2, each sample 1 / std^2.",
)
def weights_exchanged(x, std, prior_mean, prior_std, right=map_normal_mean):
    right(x, std, prior_mean, prior_std)
    if prior_std == np.inf:
        return right(x, std, prior_mean, prior_std)
    return right(x, prior_std, prior_mean, std)


@mistake(
    criterion="map-mean",
    replaces="map_normal_mean",
    text="Belief and samples were averaged, each with a half.",
    fix="Weigh them by how sure they are: 1 / prior_std^2 and n / std^2.",
)
def half_and_half(x, std, prior_mean, prior_std, right=map_normal_mean):
    right(x, std, prior_mean, prior_std)
    return (prior_mean + np.mean(x)) / 2 if len(x) else prior_mean


@mistake(
    criterion="monte-carlo",
    replaces="monte_carlo_mean",
    text="The standard error is the standard deviation of f: it was not divided by the root of the number of samples.",
    fix="Divide by sqrt(num_samples): a mean of many is surer than each.",
)
def error_of_one_sample(f, sampler, num_samples, rng, right=monte_carlo_mean):
    estimate, error = right(f, sampler, num_samples, rng)
    return estimate, error * math.sqrt(num_samples)


@mistake(
    criterion="monte-carlo",
    replaces="monte_carlo_mean",
    text="The standard deviation was divided by the number of samples, not by its root.",
    fix="Divide by sqrt(num_samples).",
)
def divided_by_n(f, sampler, num_samples, rng, right=monte_carlo_mean):
    estimate, error = right(f, sampler, num_samples, rng)
    return estimate, error / math.sqrt(num_samples)


@mistake(
    criterion="monte-carlo",
    replaces="monte_carlo_mean",
    text="The standard deviation of f divides by n: it is too small for an estimate.",
    fix="ddof=1 in np.std.",
)
def biased_error(f, sampler, num_samples, rng, right=monte_carlo_mean):
    estimate, error = right(f, sampler, num_samples, rng)
    return estimate, error * math.sqrt((num_samples - 1) / num_samples)


@mistake(
    criterion="monte-carlo",
    replaces="monte_carlo_mean",
    text="n - 1 was used twice: in the standard deviation, and in the root that divides it.",
    fix="np.std(values, ddof=1) / np.sqrt(num_samples).",
)
def corrected_twice(f, sampler, num_samples, rng, right=monte_carlo_mean):
    estimate, error = right(f, sampler, num_samples, rng)
    return estimate, error * math.sqrt(num_samples / (num_samples - 1))


@mistake(
    criterion="monte-carlo",
    replaces="monte_carlo_mean",
    text="The spread was computed as mean(f^2) - mean(f)^2, which loses its digits far from 0.",
    fix="Take the mean away before you square, as np.std does.",
)
def error_by_cancellation(f, sampler, num_samples, rng):
    if num_samples < 2:
        raise ValueError("num_samples: expected 2 or more")
    values = np.asarray(f(sampler(num_samples, rng)), float)
    spread = np.mean(values**2) - np.mean(values) ** 2
    return np.mean(values), np.sqrt(spread / (num_samples - 1))


@mistake(
    criterion="monte-carlo",
    replaces="monte_carlo_mean",
    text="f was taken of the mean of the samples; what is wanted is the mean of f.",
    fix="Apply f to the samples first, then average.",
)
def f_of_the_mean(f, sampler, num_samples, rng):
    if num_samples < 2:
        raise ValueError("num_samples: expected 2 or more")
    samples = np.asarray(sampler(num_samples, rng), float)
    values = f(samples)
    return np.mean(f(np.mean(samples, axis=0, keepdims=True))), np.std(values, ddof=1) / math.sqrt(num_samples)


@mistake(
    criterion="monte-carlo",
    replaces="monte_carlo_mean",
    text="A generator with a seed of its own was handed to the sampler.",
    fix="Pass the argument rng on.",
)
def another_generator(f, sampler, num_samples, rng, right=monte_carlo_mean):
    return right(f, sampler, num_samples, np.random.default_rng(0))


@mistake(
    criterion="normal-pdf",
    replaces="normal_pdf",
    text="The densities were put into an array of the dtype of x: of integers, every fraction is cut off.",
    fix="np.zeros_like(x) holds integers where x does: give it dtype=float, or calculate with whole arrays.",
)
def density_in_the_dtype_of_x(x, mean, std, right=normal_pdf):
    density = right(x, mean, std)
    return density.astype(int) if np.asarray(x).dtype.kind in "iu" else density


@mistake(
    criterion="normal-log-pdf",
    replaces="normal_log_pdf",
    text="The logarithms were put into an array of the dtype of x: of integers, every fraction is cut off.",
    fix="np.zeros_like(x) holds integers where x does: give it dtype=float, or calculate with whole arrays.",
)
def log_density_in_the_dtype_of_x(x, mean, std, right=normal_log_pdf):
    density = right(x, mean, std)
    return density.astype(int) if np.asarray(x).dtype.kind in "iu" else density


@mistake(
    criterion="log-sum-exp",
    replaces="log_sum_exp",
    text="The result has the dtype of x: of integers, the fraction of the logarithm is cut off.",
    fix="A logarithm is a float, also where x holds integers.",
)
def log_sum_in_the_dtype_of_x(x, axis=-1, right=log_sum_exp):
    return np.asarray(right(x, axis=axis)).astype(x.dtype)


@mistake(
    criterion="kl-divergence",
    replaces="kl_divergence",
    text="The divergence has the dtype of p: of integers, as in one-hot rows, every fraction is cut off.",
    fix="A logarithm is a float, also where p holds the integers 0 and 1.",
)
def divergence_in_the_dtype_of_p(p, q, right=kl_divergence):
    return np.asarray(right(p, q)).astype(p.dtype)


@mistake(
    criterion="fit-normal",
    replaces="fit_normal",
    text="Mean and std have the dtype of x: of integers, their fractions are cut off.",
    fix="The mean of integers is a float; leave it one, and subtract it from x as it is.",
)
def fit_in_the_dtype_of_x(x, right=fit_normal):
    mean, std = right(x)
    return x.dtype.type(mean), x.dtype.type(std)
