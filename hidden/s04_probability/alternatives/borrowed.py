"""What NumPy has for it: logaddexp, cov, corrcoef, choice, multinomial draws of the generator; masks for zeros."""

import numpy as np


def _distribution(p):
    if np.ndim(p) == 0 or not (np.all(p >= 0) and np.allclose(p.sum(axis=-1), 1, rtol=0, atol=1e-6)):
        raise ValueError(f"{p} is no distribution")


def normal_pdf(x, mean, std):
    if not np.min(std) > 0:
        raise ValueError(f"std is {std}, expected above 0")
    return np.exp(-0.5 * np.square(np.subtract(x, mean) / std)) / np.sqrt(2 * np.pi * np.square(std))


def normal_log_pdf(x, mean, std):
    if not np.min(std) > 0:
        raise ValueError(f"std is {std}, expected above 0")
    return -0.5 * (np.square(np.subtract(x, mean) / std) + np.log(2 * np.pi * np.square(std)))


def bernoulli_log_pmf(k, p):
    outcomes, chances = np.asarray(k), np.asarray(p, float)
    if not np.isin(outcomes, [0, 1]).all():
        raise ValueError(f"k is {k}, expected 0 or 1")
    if not ((chances >= 0).all() and (chances <= 1).all()):
        raise ValueError(f"p is {p}, expected from 0 to 1")
    outcomes, chances = np.broadcast_arrays(outcomes, chances)
    result = np.full(outcomes.shape, -np.inf)
    one, zero = (outcomes == 1) & (chances > 0), (outcomes == 0) & (chances < 1)
    result[one] = np.log(chances[one])
    result[zero] = np.log1p(-chances[zero])
    return result if result.shape else float(result)


def categorical_sample(probabilities, size, rng):
    _distribution(probabilities)
    if np.ndim(probabilities) != 1 or size < 0:
        raise ValueError(f"probabilities of shape {np.shape(probabilities)}, size {size}")
    counts = rng.multinomial(size, probabilities / probabilities.sum())
    return rng.permutation(np.repeat(np.arange(len(probabilities)), counts))


def log_sum_exp(x, axis=-1):
    return np.logaddexp.reduce(x, axis=axis)


def entropy(p):
    _distribution(p)
    surprises = np.zeros_like(p)
    np.log(p, out=surprises, where=p > 0)
    return -np.einsum("...k,...k->...", p, surprises)


def kl_divergence(p, q):
    _distribution(p)
    _distribution(q)
    if p.shape != q.shape:
        raise ValueError(f"shapes {p.shape} and {q.shape} differ")
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = p * np.log(p) - p * np.log(q)
    terms[p == 0] = 0
    return terms.sum(axis=-1)


def covariance_matrix(X, ddof=1):
    if X.ndim != 2 or X.shape[0] <= ddof:
        raise ValueError(f"X has shape {X.shape}")
    kind = X.dtype if X.dtype.kind == "f" else np.float64
    return np.atleast_2d(np.cov(X, rowvar=False, ddof=ddof)).astype(kind)


def correlation_matrix(X):
    if X.ndim != 2 or X.shape[0] < 2:
        raise ValueError(f"X has shape {X.shape}")
    moving = X.min(axis=0) < X.max(axis=0)
    kind = X.dtype if X.dtype.kind == "f" else np.float64
    result = np.eye(X.shape[1], dtype=kind)
    if moving.any():
        away = X[:, moving] - X[:, moving].mean(axis=0)
        away = away / np.abs(away).max(axis=0)
        result[np.ix_(moving, moving)] = np.atleast_2d(np.corrcoef(away, rowvar=False))
    return result


def fit_normal(x):
    if x.ndim != 1 or not x.size:
        raise ValueError(f"x has shape {x.shape}")
    return x.mean(), np.sqrt(np.var(x))


def map_normal_mean(x, std, prior_mean, prior_std):
    if x.ndim != 1 or not np.min([std, prior_std]) > 0:
        raise ValueError(f"x has shape {x.shape}, std is {std}, prior_std {prior_std}")
    values, weights = np.append(x, prior_mean), np.append(np.full(len(x), 1.0), (std / prior_std) ** 2)
    return np.average(values, weights=weights)


def monte_carlo_mean(f, sampler, num_samples, rng):
    if num_samples < 2:
        raise ValueError(f"num_samples is {num_samples}")
    values = np.asarray(f(sampler(num_samples, rng)))
    return values.mean(), np.sqrt(values.var(ddof=1) / values.size)
