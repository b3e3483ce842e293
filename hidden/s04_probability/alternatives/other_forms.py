"""Other algebra: densities from standardised values, sorted keys for samples, differences of entropies, QR for sums."""

import numpy as np

HALF_LOG_TAU = 0.5 * np.log(2 * np.pi)


def _checked(p, what):
    p = np.asarray(p)
    wrong = p.ndim == 0 or bool((p < 0).any()) or not bool((np.abs(p.sum(-1) - 1) <= 1e-6).all())
    if wrong:
        raise ValueError(f"{what}: {p}")
    return p


def _spread(std):
    if not np.all(np.greater(std, 0)):
        raise ValueError(f"std: {std}")
    return np.asarray(std, float)


def normal_pdf(x, mean, std):
    scale = _spread(std)
    z = (np.asarray(x) - mean) / scale
    return np.exp(-z * z / 2 - HALF_LOG_TAU) / scale


def normal_log_pdf(x, mean, std):
    scale = _spread(std)
    z = np.abs(np.asarray(x) - mean) / scale
    return -(z / 2) * z - (np.log(scale) + HALF_LOG_TAU)


def bernoulli_log_pmf(k, p):
    k, p = np.asarray(k), np.asarray(p)
    if bool(((k != 0) & (k != 1)).any()):
        raise ValueError(f"k: {k}")
    if not bool(((0 <= p) & (p <= 1)).all()):
        raise ValueError(f"p: {p}")
    with np.errstate(divide="ignore"):
        choices = [np.log1p(-p), np.log(p)]
    shape = np.broadcast_shapes(k.shape, p.shape)
    return np.choose(np.broadcast_to(k.astype(int), shape), choices)


def categorical_sample(probabilities, size, rng):
    p = _checked(probabilities, "probabilities")
    if p.ndim != 1 or size < 0:
        raise ValueError(f"probabilities: {p.shape}, size: {size}")
    with np.errstate(divide="ignore"):
        scores = np.log(p) + rng.gumbel(size=(size, len(p)))
    return np.argmax(scores, axis=1)


def log_sum_exp(x, axis=-1):
    ordered = np.moveaxis(np.sort(x, axis=axis), axis, 0)
    rest, last = ordered[:-1], ordered[-1]
    with np.errstate(invalid="ignore"):
        below = np.exp(np.where(np.isfinite(last), rest - last, -np.inf)).sum(axis=0)
    return last + np.log1p(below)


def entropy(p):
    p = _checked(p, "p")
    positive = np.where(p > 0, p, np.ones_like(p))
    return (p * np.log(1 / positive)).sum(axis=-1)


def kl_divergence(p, q):
    p, q = _checked(p, "p"), _checked(q, "q")
    if p.shape != q.shape:
        raise ValueError(f"q: {q.shape}, p: {p.shape}")
    with np.errstate(divide="ignore", invalid="ignore"):
        crossed = np.where(p > 0, -p * np.log(q), 0).sum(axis=-1)
    return crossed - entropy(p)


def covariance_matrix(X, ddof=1):
    if X.ndim != 2 or not len(X) > ddof:
        raise ValueError(f"X: {X.shape}, ddof: {ddof}")
    moved = X - X[0]
    R = np.linalg.qr(moved - moved.mean(axis=0), mode="r")
    return R.T @ R / (len(X) - ddof)


def correlation_matrix(X):
    if X.ndim != 2 or len(X) < 2:
        raise ValueError(f"X: {X.shape}")
    moved = X - X[0]  # all zeros, exactly, where a feature never changes
    away = moved - moved.mean(axis=0)
    _, exponents = np.frexp(np.abs(away).max(axis=0))
    away = np.ldexp(away, -exponents)  # another unit, by a power of two
    lengths = np.sqrt((away * away).sum(axis=0))
    directions = away / np.where(lengths > 0, lengths, 1)
    result = np.clip(directions.T @ directions, -1, 1)
    result[np.diag_indices_from(result)] = 1
    return result


def fit_normal(x):
    if x.ndim != 1 or x.size < 1:
        raise ValueError(f"x: {x.shape}")
    moved = x - x[0]
    shift = moved.mean()
    return x[0] + shift, np.linalg.norm(moved - shift) / np.sqrt(x.size)


def map_normal_mean(x, std, prior_mean, prior_std):
    if x.ndim != 1 or not (std > 0 and prior_std > 0):
        raise ValueError(f"x: {x.shape}, std: {std}, prior_std: {prior_std}")
    ratio = (std / prior_std) ** 2
    return (ratio * prior_mean + x.sum()) / (ratio + x.size)


def monte_carlo_mean(f, sampler, num_samples, rng):
    if num_samples < 2:
        raise ValueError(f"num_samples: {num_samples}")
    values = np.asarray(f(sampler(num_samples, rng)), float)
    estimate = values.sum() / num_samples
    return estimate, np.linalg.norm(values - estimate) / np.sqrt(num_samples * (num_samples - 1))
