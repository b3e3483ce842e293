"""Lists of numbers and Python loops throughout: Doolittle, Gram-Schmidt twice, power iteration by rows."""

import math
import random

import numpy as np


def _kind(*arrays):
    return np.result_type(*arrays, np.float32)


def _rows(name, A, square=True):
    if A.ndim != 2 or (square and len(set(A.shape)) != 1):
        raise ValueError(f"{name} has shape {A.shape}")
    return A.astype(np.float64).tolist()


def _columns(b, n):
    if b.ndim not in (1, 2) or b.shape[0] != n:
        raise ValueError(f"b has shape {b.shape}")
    return b.reshape(n, -1).T.astype(np.float64).tolist()


def _back(columns, b, *matrices):
    return np.array(columns, dtype=_kind(b, *matrices)).T.reshape(b.shape)


def _forward(rows, column):
    x = []
    for i, row in enumerate(rows):
        if row[i] == 0:
            raise ValueError(f"diagonal entry {i} is zero")
        x.append((column[i] - sum(factor * known for factor, known in zip(row, x, strict=False))) / row[i])
    return x


def _backward(rows, column):
    turned = [row[::-1] for row in rows[::-1]]
    return _forward(turned, column[::-1])[::-1]


def forward_substitution(L, b):
    rows = _rows("L", L)
    return _back([_forward(rows, column) for column in _columns(b, len(rows))], b, L)


def backward_substitution(U, b):
    rows = _rows("U", U)
    return _back([_backward(rows, column) for column in _columns(b, len(rows))], b, U)


def _factors(A):
    rows = _rows("A", A)
    n = len(rows)
    order, lower, swaps = list(range(n)), [[0.0] * n for _ in range(n)], 0
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(rows[i][k]) > abs(rows[best][k]):
                best = i
        if best != k:
            swaps += 1
            for each in (rows, lower, order):
                each[k], each[best] = each[best], each[k]
        lower[k][k] = 1.0
        for i in range(k + 1, n):
            if rows[k][k] == 0:
                continue
            factor = rows[i][k] / rows[k][k]
            lower[i][k] = factor
            rows[i][k] = 0.0
            for j in range(k + 1, n):
                rows[i][j] -= factor * rows[k][j]
    return order, lower, rows, swaps


def lu_decomposition(A):
    order, lower, upper, _ = _factors(A)
    P = [[1.0 if column == place else 0.0 for column in range(len(order))] for place in order]
    return tuple(np.array(factor, dtype=_kind(A)) for factor in (P, lower, upper))


def _limit(A):
    size = math.sqrt(sum(float(entry) ** 2 for entry in A.ravel()))
    return 10 * len(A) * float(np.finfo(_kind(A)).eps) * size


def solve(A, b):
    order, lower, upper, _ = _factors(A)
    columns = _columns(b, len(order))
    if min(abs(upper[i][i]) for i in range(len(order))) <= _limit(A):
        raise ValueError("A is singular")
    return _back([_backward(upper, _forward(lower, [column[i] for i in order])) for column in columns], b, A)


def determinant(A):
    _, _, upper, swaps = _factors(A)
    return (-1.0) ** swaps * math.prod(upper[i][i] for i in range(len(upper)))


def inverse(A):
    _rows("A", A)
    return solve(A, np.eye(len(A))).astype(_kind(A))


def qr_decomposition(A):
    rows = _rows("A", A, square=False)
    m, n = A.shape
    if m < n:
        raise ValueError(f"A has shape {A.shape}")
    Q, R = [], [[0.0] * n for _ in range(n)]
    for j in range(n):
        v = [row[j] for row in rows]
        for i in list(range(j)) * 2:
            share = sum(x * y for x, y in zip(Q[i], v, strict=True))
            v = [y - share * x for x, y in zip(Q[i], v, strict=True)]
            R[i][j] += share
        R[j][j] = math.hypot(*v)
        Q.append([y / R[j][j] for y in v] if R[j][j] else v)
    return np.array(Q, dtype=_kind(A)).T, np.array(R, dtype=_kind(A))


def least_squares(A, b):
    Q, R = (factor.astype(np.float64) for factor in qr_decomposition(A.astype(np.float64)))
    if min(abs(entry) for entry in np.diagonal(R)) <= _limit(A):
        raise ValueError("the columns of A are dependent")
    columns = [_backward(R.tolist(), (Q.T @ np.array(column)).tolist()) for column in _columns(b, len(A))]
    result = np.array(columns, dtype=_kind(A, b)).T
    return result if b.ndim == 2 else result[:, 0]


def power_iteration(A, num_iterations=1000, tolerance=1e-10, rng=None):
    rows = _rows("A", A)
    if num_iterations <= 0:
        raise ValueError(f"num_iterations is {num_iterations}")
    draw = (lambda: random.gauss(0.0, 1.0)) if rng is None else rng.standard_normal
    v = [float(draw()) for _ in rows]
    steps = 0
    while True:
        length = math.hypot(*v)
        v = [x / length for x in v]
        w = [sum(x * y for x, y in zip(row, v, strict=True)) for row in rows]
        quotient = sum(x * y for x, y in zip(v, w, strict=True))
        residual = math.hypot(*(y - quotient * x for x, y in zip(v, w, strict=True)))
        if steps == num_iterations or residual <= tolerance * abs(quotient):
            return quotient, np.array(v, dtype=_kind(A))
        v, steps = w, steps + 1


def low_rank_approximation(A, rank):
    _rows("A", A, square=False)
    if rank < 1 or rank > min(A.shape):
        raise ValueError(f"rank is {rank}")
    U, s, Vt = np.linalg.svd(A)
    result = np.zeros(A.shape, dtype=_kind(A))
    for i in range(rank):
        for row in range(A.shape[0]):
            for column in range(A.shape[1]):
                result[row, column] += s[i] * U[row, i] * Vt[i, column]
    return result
