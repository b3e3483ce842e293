"""Probability: densities, samples, entropy, and what data tell of the distribution that they came from.

Logarithms are natural. A distribution over k outcomes is an array of k probabilities, none below 0, that sum to 1 (up
to 1e-6). For all functions: arguments are never changed, and bad shapes and values raise ValueError with a sentence
that names the argument. Where an array is all that goes in, a float32 one gives float32.
"""

import math

import numpy as np


def _require_positive(**values):
    for name, value in values.items():
        if not np.all(value > 0):
            raise ValueError(f"{name}: {value}, expected above 0")


def _require_distribution(**distributions):
    for name, p in distributions.items():
        if p.ndim == 0 or np.any(p < 0) or not np.all(np.abs(np.sum(p, axis=-1) - 1) <= 1e-6):
            raise ValueError(f"{name}: {p}, expected probabilities of 0 or more that sum to 1 along the last axis")


def normal_pdf(x, mean, std):
    """Return the density of the normal distribution at x.

    x, mean and std are numbers or arrays that broadcast with each other; the result has the shape they broadcast to.

    Raises ValueError when a std is not above 0, as NaN is not.

    Formula: exp(-(x - mean)^2 / (2 std^2)) / (std sqrt(2 pi)).
    Example:

    >>> normal_pdf(np.array([-1.0, 0.0, 1.0]), 0.0, 1.0).round(4)
    array([0.242 , 0.3989, 0.242 ])
    """
    _require_positive(std=std)
    return np.exp(-(((x - mean) / std) ** 2) / 2) / (std * math.sqrt(2 * math.pi))


def normal_log_pdf(x, mean, std):
    """Return the logarithm of the normal density at x, right also where the density itself is too small for a float.

    x, mean and std are numbers or arrays that broadcast with each other; the result has the shape they broadcast to.

    Raises ValueError when a std is not above 0, as NaN is not.

    Formula: -(x - mean)^2 / (2 std^2) - log(std) - log(2 pi) / 2.
    Example:

    >>> normal_log_pdf(np.array([0.0, 100.0]), 0.0, 1.0).round(4)
    array([-9.1890000e-01, -5.0009189e+03])
    """
    _require_positive(std=std)
    return -(((x - mean) / std) ** 2) / 2 - np.log(std) - math.log(2 * math.pi) / 2


def bernoulli_log_pmf(k, p):
    """Return the logarithm of the probability of k, which is 1 with probability p and else 0.

    k and p are numbers or arrays that broadcast with each other; k holds 0 and 1 (or False and True), p numbers from 0
    to 1. What cannot happen has -inf; what is certain has 0, never NaN. For a small p log(1 - p) keeps its digits.

    Raises ValueError when a k is neither 0 nor 1, or a p is below 0 or above 1.

    Formula: k log(p) + (1 - k) log(1 - p), with 0 log(0) = 0.
    Example:

    >>> bernoulli_log_pmf(np.array([1, 0, 1]), np.array([0.25, 0.25, 0.0])).round(4)
    array([-1.3863, -0.2877,    -inf])
    """
    if not np.all((k == 0) | (k == 1)):
        raise ValueError(f"k: {k}, expected 0 or 1")
    if not np.all((p >= 0) & (p <= 1)):
        raise ValueError(f"p: {p}, expected from 0 to 1")
    with np.errstate(divide="ignore"):
        return np.where(k == 1, np.log(p), np.log1p(-p))


def categorical_sample(probabilities, size, rng):
    """Return size outcomes, each drawn by itself: the number i with probability probabilities[i].

    probabilities is (k,), size a whole number of 0 or more, rng a np.random.Generator; the result is (size,), whole
    numbers from 0 to k - 1. An outcome of probability 0 is never drawn.

    Raises ValueError when probabilities is not a distribution over one axis, or size is below 0.

    Method: the number of cumulative sums that a uniform number has reached.
    Example:

    >>> categorical_sample(np.array([0.0, 1.0, 0.0]), 4, np.random.default_rng(0))
    array([1, 1, 1, 1])
    """
    _require_distribution(probabilities=probabilities)
    if probabilities.ndim != 1:
        raise ValueError(f"probabilities: shape {probabilities.shape}, expected (k,)")
    sums = np.cumsum(probabilities)
    return np.searchsorted(sums, rng.random(size) * sums[-1], side="right")


def log_sum_exp(x, axis=-1):
    """Return log(sum(exp(x))) along an axis, for numbers of any size.

    x is an array, axis one of its axes, which the result has lost. -inf counts as nothing: where all are -inf, so is
    the result. A single inf makes it inf.

    Formula: m + log(sum(exp(x - m))), with m the largest number along the axis.
    Example:

    >>> log_sum_exp(np.array([[0.0, 0.0], [1000.0, 1000.0]])).round(4)
    array([6.9310000e-01, 1.0006931e+03])
    """
    largest = np.max(x, axis=axis, keepdims=True)
    shift = np.where(np.isfinite(largest), largest, 0)
    with np.errstate(divide="ignore", over="ignore"):
        return np.log(np.sum(np.exp(x - shift), axis=axis)) + np.squeeze(shift, axis=axis)


def entropy(p):
    """Return the entropy of a distribution in nats: the mean of -log p.

    p is (..., k), distributions along the last axis; the result is (...), one number for a single distribution. An
    outcome of probability 0 adds 0.

    Raises ValueError when p is not a distribution along its last axis.

    Formula: -sum p log(p), with 0 log(0) = 0.
    Example:

    >>> entropy(np.array([[0.5, 0.5], [1.0, 0.0]])).round(4) + 0
    array([0.6931, 0.    ])
    """
    _require_distribution(p=p)
    return -np.sum(p * _log_or_zero(p), axis=-1)


def _log_or_zero(p):
    return np.log(np.where(p > 0, p, 1))


def kl_divergence(p, q):
    """Return the Kullback-Leibler divergence of q from p in nats: how surprised, on average, who expected q is by p.

    p and q are (..., k), distributions along the last axis, of the same shape; the result is (...). Where p is 0,
    nothing is added; where q is 0 and p is not, the result is inf. A q that is merely tiny gives a finite number, even
    where the quotient p / q is too large for a float.

    Raises ValueError when p or q is not a distribution along its last axis, or their shapes differ.

    Formula: sum p (log(p) - log(q)).
    Example:

    >>> round(float(kl_divergence(np.array([0.5, 0.5]), np.array([0.25, 0.75]))), 4)
    0.1438
    """
    _require_distribution(p=p, q=q)
    if p.shape != q.shape:
        raise ValueError(f"q: shape {q.shape}, expected that of p, {p.shape}")
    terms = p * (_log_or_zero(p) - _log_or_zero(q))
    return np.sum(np.where((p > 0) & (q == 0), np.inf, terms), axis=-1)


def covariance_matrix(X, ddof=1):
    """Return the covariances of all pairs of features, (features, features).

    X is (samples, features). The sums are divided by samples - ddof: ddof=1 for an estimate from a sample, 0 for the
    covariances of the data themselves. Features far away from 0 keep their digits.

    Raises ValueError when X has not two axes, or there are not more than ddof samples.

    Formula: (X - mean)^T (X - mean) / (n - ddof).
    Example:

    >>> covariance_matrix(np.array([[1.0, 2.0], [3.0, 6.0], [5.0, 1.0]]))
    array([[ 4., -1.],
           [-1.,  7.]])
    """
    _require_samples(X, ddof)
    away = X - np.mean(X, axis=0)
    return away.T @ away / (len(X) - ddof)


def _require_samples(X, ddof):
    if X.ndim != 2 or len(X) <= ddof:
        raise ValueError(f"X: shape {X.shape}, expected (samples, features) with more than {ddof} samples")


def correlation_matrix(X):
    """Return the correlations of all pairs of features, (features, features), numbers from -1 to 1.

    X is (samples, features). The diagonal is 1, and rounding may take a correlation past 1 or -1 in its last digits. A
    feature that is the same number in all samples has a correlation of 0 with every other feature; one that changes
    has its own in every unit, also where the squares of its numbers are too small or too large for a float (numbers
    from 1e-200 to 1e200 in float64, from 1e-30 to 1e30 in float32), and however far from 0 it is.

    Raises ValueError when X has not two axes, or fewer than two samples.

    Formula: covariance / (std std).
    Example:

    >>> correlation_matrix(np.array([[1.0, 2.0], [3.0, 6.0], [5.0, 1.0]])).round(4)
    array([[ 1.   , -0.189],
           [-0.189,  1.   ]])
    """
    _require_samples(X, 1)
    still = np.ptp(X, axis=0) == 0  # a computed variance of equal numbers may be 1e-34
    away = X - np.mean(X, axis=0)
    unit = np.where(still, np.inf, np.max(np.abs(away), axis=0))  # the largest deviation is 1 in this unit
    covariance = covariance_matrix(away / unit)
    std = np.where(still, 1, np.sqrt(np.diag(covariance)))
    correlation = covariance / np.outer(std, std)
    np.fill_diagonal(correlation, 1)
    return correlation


def fit_normal(x):
    """Return the (mean, std) of the normal distribution under which the samples x are most likely.

    x is (samples,), one or more.

    Raises ValueError when x is not a vector, or is empty.

    Formula: mean(x), and the root of the mean of (x - mean)^2.
    Example:

    >>> mean, std = fit_normal(np.array([1.0, 2.0, 6.0]))
    >>> float(mean), round(float(std), 4)
    (3.0, 2.1602)
    """
    if x.ndim != 1 or x.size == 0:
        raise ValueError(f"x: shape {x.shape}, expected (samples,) with one sample or more")
    return np.mean(x), np.std(x)


def map_normal_mean(x, std, prior_mean, prior_std):
    """Return the most probable mean of a normal distribution, after samples x and by what was believed before.

    x is (samples,), drawn with the known standard deviation std around a mean that nobody knows; before seeing them it
    was believed to be normal around prior_mean with the standard deviation prior_std. Without samples the result is
    prior_mean; a prior_std of np.inf says that nothing was known, and then there is at least one sample.

    Raises ValueError when x is not a vector, or std or prior_std is not above 0, as NaN is not.

    Formula: (prior_mean / prior_std^2 + sum(x) / std^2) / (1 / prior_std^2 + n / std^2).
    Example:

    >>> round(float(map_normal_mean(np.array([4.0, 6.0]), 1.0, 0.0, 1.0)), 4)
    3.3333
    """
    if x.ndim != 1:
        raise ValueError(f"x: shape {x.shape}, expected (samples,)")
    _require_positive(std=std, prior_std=prior_std)
    before, each = 1 / prior_std**2, 1 / std**2
    return (before * prior_mean + each * np.sum(x)) / (before + each * len(x))


def monte_carlo_mean(f, sampler, num_samples, rng):
    """Return (estimate, standard_error): the mean of f over samples, and how far it is typically off.

    sampler(num_samples, rng) draws all samples at once and returns an array with one sample in each row; it is to be
    called once. f(samples) returns one number for each of them; numbers far away from 0 keep their digits. num_samples
    is 2 or more.

    Raises ValueError when num_samples is below 2.

    Formula: mean(f), and the standard deviation of f (n - 1) divided by sqrt(n).
    Example:

    >>> estimate, error = monte_carlo_mean(lambda x: x**2, lambda n, rng: np.arange(n), 4, np.random.default_rng(0))
    >>> float(estimate), round(float(error), 4)
    (3.5, 2.0207)
    """
    if num_samples < 2:
        raise ValueError(f"num_samples: {num_samples}, expected 2 or more")
    values = f(sampler(num_samples, rng))
    return np.mean(values), np.std(values, ddof=1) / math.sqrt(num_samples)
