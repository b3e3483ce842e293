"""Gauss and Jordan for systems, expansion for determinants, Givens rotations for QR, columns first in substitutions."""

import numpy as np


def _float(A):
    return A.astype(np.result_type(A, np.float32))


def _is_square(A):
    return A.ndim == 2 and A.shape[0] == A.shape[1]


def _check(A, b):
    if not _is_square(A):
        raise ValueError(f"expected a square matrix, got {A.shape}")
    if b.ndim not in (1, 2) or len(b) != len(A):
        raise ValueError(f"expected {len(A)} rows of b, got {b.shape}")


def _by_columns(T, b, order):
    """Once an unknown is found, take its column off what is left of b."""
    T = _float(T)
    if not np.diagonal(T).all():
        raise ValueError("a zero on the diagonal")
    rest = b.astype(np.result_type(T, b))
    for j in order:
        rest[j] /= T[j, j]
        others = order[np.flatnonzero(order == j)[0] + 1 :]
        rest[others] -= np.multiply.outer(T[others, j], rest[j])
    return rest


def forward_substitution(L, b):
    _check(L, b)
    return _by_columns(L, b, np.arange(len(L)))


def backward_substitution(U, b):
    _check(U, b)
    return _by_columns(U, b, np.arange(len(U))[::-1])


def lu_decomposition(A):
    """By recursion: the first pivot, then the same for what is left."""
    if not _is_square(A):
        raise ValueError(f"expected a square matrix, got {A.shape}")
    P, L, U = _recursive(_float(A))
    return P, L, U


def _recursive(A):
    n = len(A)
    identity = np.eye(n, dtype=A.dtype)
    if n == 1:
        return identity, identity, A
    swap = identity.copy()
    best = int(np.argmax(np.abs(A[:, 0])))
    swap[[0, best]] = swap[[best, 0]]
    A = swap @ A
    factors = A[1:, 0] / A[0, 0] if A[0, 0] else np.zeros(n - 1, dtype=A.dtype)
    P, L, U = _recursive(A[1:, 1:] - factors[:, None] * A[0, 1:])
    lower, upper, order = identity.copy(), np.zeros_like(A), identity.copy()
    order[1:, 1:] = P
    lower[1:, 0], lower[1:, 1:] = P @ factors, L
    upper[0], upper[1:, 1:] = A[0], U
    return order @ swap, lower, upper


def solve(A, b):
    """Gauss and Jordan: clear every column above the pivot as well."""
    _check(A, b)
    n = len(A)
    kind = np.result_type(A, b, np.float32)
    limit = 10 * n * np.finfo(_float(A).dtype).eps * np.linalg.norm(A)
    work = np.concatenate([A, b.reshape(n, -1)], axis=1).astype(kind)
    for k in range(n):
        best = max(range(k, n), key=lambda i: abs(work[i, k]))
        work[[k, best]] = work[[best, k]]
        if abs(work[k, k]) <= limit:
            raise ValueError("A is singular")
        work[k] /= work[k, k]
        for i in range(n):
            if i != k:
                work[i] -= work[i, k] * work[k]
    return work[:, n:].reshape(b.shape)


def determinant(A):
    """Expansion along the first column."""
    if not _is_square(A):
        raise ValueError(f"expected a square matrix, got {A.shape}")
    return _expanded(_float(A))


def _expanded(A):
    if len(A) == 1:
        return A[0, 0]
    minors = [np.delete(A[:, 1:], i, axis=0) for i in range(len(A))]
    return sum((-1) ** i * A[i, 0] * _expanded(minor) for i, minor in enumerate(minors))


def inverse(A):
    if not _is_square(A):
        raise ValueError(f"expected a square matrix, got {A.shape}")
    identity = np.eye(len(A), dtype=_float(A).dtype)
    return np.column_stack([solve(A, column) for column in identity])


def qr_decomposition(A):
    """Givens rotations, each of which turns two rows so that one entry becomes zero."""
    if A.ndim != 2 or A.shape[0] < A.shape[1]:
        raise ValueError(f"expected at least as many rows as columns, got {A.shape}")
    m, n = A.shape
    R = _float(A)
    turned = np.eye(m, dtype=R.dtype)
    for j in range(n):
        for i in range(m - 1, j, -1):
            x, y = R[i - 1, j], R[i, j]
            length = np.hypot(x, y)
            if length == 0:
                continue
            rotation = np.array([[x, y], [-y, x]]) / length
            R[i - 1 : i + 1] = rotation @ R[i - 1 : i + 1]
            turned[i - 1 : i + 1] = rotation @ turned[i - 1 : i + 1]
    return turned[:n].T, np.triu(R[:n])


def least_squares(A, b):
    """R of the columns of A and b together holds R and Q^T b."""
    if A.ndim != 2 or A.shape[0] < A.shape[1] or b.ndim not in (1, 2) or len(b) != len(A):
        raise ValueError(f"A {A.shape} and b {b.shape} do not fit")
    n, right = A.shape[1], b.reshape(len(b), -1)
    padding = np.zeros((right.shape[1], n + right.shape[1]))
    table = np.vstack([np.hstack([A, right]), padding.astype(np.result_type(A, b))])
    _, R = qr_decomposition(table)
    limit = 10 * len(A) * np.finfo(R.dtype).eps * np.linalg.norm(A)
    if (np.abs(np.diagonal(R)[:n]) <= limit).any():
        raise ValueError("the columns of A are dependent")
    return backward_substitution(R[:n, :n], R[:n, n:]).reshape((n, *b.shape[1:]))


def power_iteration(A, num_iterations=1000, tolerance=1e-10, rng=None):
    if not _is_square(A) or num_iterations < 1:
        raise ValueError(f"A {A.shape}, num_iterations {num_iterations}")
    rng = rng or np.random.default_rng()
    A = _float(A)
    v = rng.uniform(-1.0, 1.0, size=(len(A), 1)).astype(A.dtype)
    for _ in range(num_iterations):
        v = v / np.sqrt(np.sum(v * v))
        q = np.sum(v * (A @ v))
        if np.sqrt(np.sum((A @ v - q * v) ** 2)) <= tolerance * np.abs(q):
            break
        v = A @ v
    v = v / np.sqrt(np.sum(v * v))
    return np.sum(v * (A @ v)), v[:, 0]


def low_rank_approximation(A, rank):
    """Project the rows onto the leading right singular vectors."""
    if A.ndim != 2 or rank not in range(1, min(A.shape) + 1):
        raise ValueError(f"A {A.shape}, rank {rank}")
    leading = np.linalg.svd(A, full_matrices=False)[2][:rank]
    return _float(A) @ leading.T @ leading
