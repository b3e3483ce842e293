"""Probability, as a student wrote it from the lesson."""

import numpy as np


def check_positive(name, number):
    if not np.all(np.asarray(number) > 0):
        raise ValueError(f"{name} is {number}, expected a number above 0")


def check_distribution(name, p):
    if p.ndim == 0 or p.shape[-1] == 0:
        raise ValueError(f"{name} has shape {p.shape}, expected probabilities along the last axis")
    if not np.all(p >= 0):
        raise ValueError(f"{name} has an entry that is not 0 or more")
    if not np.all(np.abs(np.sum(p, axis=-1) - 1) <= 1e-6):
        raise ValueError(f"{name} does not sum to 1 along the last axis")


def safe_log(p):
    """Return log(p), with 0 where p is 0."""
    return np.log(np.where(p > 0, p, 1))


def normal_pdf(x, mean, std):
    check_positive("std", std)
    z = (x - mean) / std
    return np.exp(-(z**2) / 2) / (std * np.sqrt(2 * np.pi))


def normal_log_pdf(x, mean, std):
    check_positive("std", std)
    z = (x - mean) / std
    return -(z**2) / 2 - np.log(std) - 0.5 * np.log(2 * np.pi)


def bernoulli_log_pmf(k, p):
    k, p = np.asarray(k), np.asarray(p, dtype=np.float64)
    if not np.all((k == 0) | (k == 1)):
        raise ValueError("k holds other numbers, expected 0 and 1")
    if not np.all((p >= 0) & (p <= 1)):
        raise ValueError("p has an entry outside of 0 to 1")
    with np.errstate(divide="ignore"):
        log_one = np.log(p)
        log_zero = np.log1p(-p)
    return np.where(k == 1, log_one, log_zero)


def categorical_sample(probabilities, size, rng):
    if probabilities.ndim != 1:
        raise ValueError(f"probabilities has shape {probabilities.shape}, expected (k,)")
    check_distribution("probabilities", probabilities)
    if size < 0:
        raise ValueError(f"size is {size}, expected 0 or more")
    ends = np.cumsum(probabilities)
    uniform = rng.random(size) * ends[-1]
    return np.searchsorted(ends, uniform, side="right")


def log_sum_exp(x, axis=-1):
    largest = np.max(x, axis=axis, keepdims=True)
    shift = np.where(np.isfinite(largest), largest, 0)
    with np.errstate(divide="ignore", over="ignore"):
        total = np.log(np.sum(np.exp(x - shift), axis=axis))
    return total + np.squeeze(shift, axis=axis)


def entropy(p):
    check_distribution("p", p)
    return -np.sum(p * safe_log(p), axis=-1)


def kl_divergence(p, q):
    if p.shape != q.shape:
        raise ValueError(f"p has shape {p.shape} and q has shape {q.shape}, expected the same")
    check_distribution("p", p)
    check_distribution("q", q)
    terms = p * (safe_log(p) - safe_log(q))
    is_impossible = (p > 0) & (q == 0)
    terms = np.where(is_impossible, np.inf, terms)
    return np.sum(terms, axis=-1)


def covariance_matrix(X, ddof=1):
    if X.ndim != 2:
        raise ValueError(f"X has shape {X.shape}, expected (samples, features)")
    if X.shape[0] <= ddof:
        raise ValueError(f"X has {X.shape[0]} samples, expected more than ddof, {ddof}")
    centred = X - np.mean(X, axis=0)
    return centred.T @ centred / (X.shape[0] - ddof)


def correlation_matrix(X):
    if X.ndim != 2 or X.shape[0] < 2:
        raise ValueError(f"X has shape {X.shape}, expected two samples or more in rows")
    changes = np.max(X, axis=0) != np.min(X, axis=0)
    centred = X - np.mean(X, axis=0)
    unit = np.max(np.abs(centred), axis=0)
    scaled = np.where(changes, centred, 0) / np.where(changes, unit, 1)
    C = covariance_matrix(scaled)
    std = np.where(changes, np.sqrt(np.diag(C)), 1)
    correlations = C / (std[:, np.newaxis] * std)
    np.fill_diagonal(correlations, 1)
    return correlations


def fit_normal(x):
    if np.ndim(x) != 1 or len(x) == 0:
        raise ValueError(f"x has shape {np.shape(x)}, expected a vector with at least one sample")
    mean = np.mean(x)
    std = np.sqrt(np.mean((x - mean) ** 2))
    return mean, std


def map_normal_mean(x, std, prior_mean, prior_std):
    if np.ndim(x) != 1:
        raise ValueError(f"x has shape {np.shape(x)}, expected a vector")
    check_positive("std", std)
    check_positive("prior_std", prior_std)
    prior_weight = 1 / prior_std**2
    sample_weight = 1 / std**2
    top = prior_weight * prior_mean + sample_weight * np.sum(x)
    return top / (prior_weight + sample_weight * len(x))


def monte_carlo_mean(f, sampler, num_samples, rng):
    if num_samples < 2:
        raise ValueError(f"num_samples is {num_samples}, expected 2 or more")
    samples = sampler(num_samples, rng)
    values = np.asarray(f(samples))
    estimate = np.mean(values)
    spread = np.sqrt(np.sum((values - estimate) ** 2) / (num_samples - 1))
    return estimate, spread / np.sqrt(num_samples)
