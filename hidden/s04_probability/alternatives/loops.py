"""Number by number with the math module, and sums by hand; samples by walking along the probabilities."""

import math

import numpy as np


def _each(function, *arguments):
    arrays = np.broadcast_arrays(*arguments)
    result = np.array([function(*each) for each in zip(*(array.ravel().tolist() for array in arrays), strict=True)])
    return result.reshape(arrays[0].shape) if arrays[0].shape else result[0]


def _check(name, p):
    if p.ndim < 1:
        raise ValueError(f"{name}: a number, expected a distribution")
    for row in p.reshape(-1, p.shape[-1]).tolist():
        if any(not value >= 0 for value in row) or not abs(math.fsum(row) - 1) <= 1e-6:
            raise ValueError(f"{name}: {row}, expected probabilities that sum to 1")


def _rows(function, *arrays):
    width = arrays[0].shape[-1]
    tables = [array.reshape(-1, width).tolist() for array in arrays]
    values = np.array([function(*rows) for rows in zip(*tables, strict=True)], np.result_type(arrays[0], 1.0))
    return values.reshape(arrays[0].shape[:-1])[()]


def normal_pdf(x, mean, std):
    if not np.all(np.asarray(std) > 0):
        raise ValueError(f"std: {std}, expected above 0")
    return _each(lambda a, m, s: math.exp(-((a - m) ** 2) / (2 * s * s)) / (s * math.sqrt(2 * math.pi)), x, mean, std)


def normal_log_pdf(x, mean, std):
    if not np.all(np.asarray(std) > 0):
        raise ValueError(f"std: {std}, expected above 0")
    return _each(lambda a, m, s: -0.5 * ((a - m) / s) ** 2 - math.log(s * math.sqrt(2 * math.pi)), x, mean, std)


def bernoulli_log_pmf(k, p):
    def of_one(outcome, chance):
        if outcome not in (0, 1) or not 0 <= chance <= 1:
            raise ValueError(f"k: {outcome}, p: {chance}, expected 0 or 1, and a probability")
        if outcome:
            return math.log(chance) if chance > 0 else -math.inf
        return math.log1p(-chance) if chance < 1 else -math.inf

    return _each(of_one, k, p)


def categorical_sample(probabilities, size, rng):
    _check("probabilities", probabilities)
    if probabilities.ndim > 1:
        raise ValueError(f"probabilities: shape {probabilities.shape}, expected (k,)")
    if size < 0:
        raise ValueError(f"size: {size}, expected 0 or more")
    possible = [(i, p) for i, p in enumerate(probabilities.tolist()) if p > 0]
    drawn = []
    for _ in range(size):
        left, found = rng.random(), possible[-1][0]
        for i, p in possible:
            left -= p
            if left < 0:
                found = i
                break
        drawn.append(found)
    return np.array(drawn, int)


def log_sum_exp(x, axis=-1):
    def of_row(row):
        largest = max(row)
        if math.isinf(largest):
            return largest
        return largest + math.log(math.fsum(math.exp(value - largest) for value in row))

    return _rows(of_row, np.moveaxis(x, axis, -1))


def entropy(p):
    _check("p", p)
    return _rows(lambda row: math.fsum(-a * math.log(a) for a in row if a > 0), p)


def kl_divergence(p, q):
    _check("p", p)
    _check("q", q)
    if p.shape != q.shape:
        raise ValueError(f"q: shape {q.shape}, expected {p.shape}")

    def of_rows(one, other):
        if any(a > 0 and b == 0 for a, b in zip(one, other, strict=True)):
            return math.inf
        return math.fsum(a * (math.log(a) - math.log(b)) for a, b in zip(one, other, strict=True) if a > 0)

    return _rows(of_rows, p, q)


def covariance_matrix(X, ddof=1):
    if X.ndim != 2 or len(X) - ddof <= 0:
        raise ValueError(f"X: shape {X.shape}, expected (samples, features), more than {ddof} samples")
    columns = [[value - math.fsum(column) / len(column) for value in column] for column in X.T.tolist()]
    sums = [[math.fsum(a * b for a, b in zip(one, other, strict=True)) for other in columns] for one in columns]
    return (np.array(sums) / (len(X) - ddof)).astype(np.result_type(X, np.float32))


def correlation_matrix(X):
    kind = covariance_matrix(np.zeros_like(X)).dtype  # and its errors
    scaled = np.zeros(X.shape)
    for j in range(X.shape[1]):
        away = [value - math.fsum(X[:, j].tolist()) / len(X) for value in X[:, j].tolist()]
        scaled[:, j] = np.array(away) / (max(map(abs, away)) or 1)
    covariance = covariance_matrix(scaled)
    result = np.eye(X.shape[1], dtype=kind)
    for i in range(X.shape[1]):
        for j in range(i):
            if len(set(X[:, i].tolist())) > 1 and len(set(X[:, j].tolist())) > 1:
                value = covariance[i, j] / math.sqrt(covariance[i, i]) / math.sqrt(covariance[j, j])
                result[i, j] = result[j, i] = min(max(value, -1.0), 1.0)
    return result


def fit_normal(x):
    if x.ndim != 1 or len(x) == 0:
        raise ValueError(f"x: shape {x.shape}, expected (samples,)")
    mean = math.fsum(x.tolist()) / len(x)
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in x.tolist()) / len(x))


def map_normal_mean(x, std, prior_mean, prior_std):
    if x.ndim != 1 or not std > 0 or not prior_std > 0:
        raise ValueError(f"x: shape {x.shape}, std: {std}, prior_std: {prior_std}")
    mean, precision = prior_mean, 1 / prior_std**2
    for value in x.tolist():  # each sample moves the belief, which is the prior of the next
        precision += 1 / std**2
        mean += (value - mean) / (std**2 * precision)
    return mean


def monte_carlo_mean(f, sampler, num_samples, rng):
    if num_samples <= 1:
        raise ValueError(f"num_samples: {num_samples}, expected 2 or more")
    mean = squares = 0.0
    for n, value in enumerate(np.asarray(f(sampler(num_samples, rng)), float).tolist(), start=1):
        step = value - mean
        mean += step / n
        squares += step * (value - mean)
    return mean, math.sqrt(squares / (num_samples - 1) / num_samples)
