"""Linear systems, as a student wrote them from the lesson."""

import numpy as np


def as_float(A):
    A = np.asarray(A)
    return A if np.issubdtype(A.dtype, np.floating) else A.astype(np.float64)


def check_square(name, A):
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"{name}: shape {A.shape}, expected a square matrix")


def check_right_side(b, rows):
    if b.ndim not in (1, 2) or b.shape[0] != rows:
        raise ValueError(f"b: shape {b.shape}, expected ({rows},) or ({rows}, k)")


def check_diagonal(name, T):
    if np.any(np.diagonal(T) == 0):
        raise ValueError(f"{name}: zero on the diagonal, expected none")


def rounding_limit(A, rows):
    return 10 * rows * np.finfo(A.dtype).eps * np.linalg.norm(A)


def forward_substitution(L, b):
    L, b = as_float(L), as_float(b)
    check_square("L", L)
    check_right_side(b, len(L))
    check_diagonal("L", L)
    x = np.zeros(b.shape, dtype=np.result_type(L, b))
    for i in range(len(L)):
        known = L[i, :i] @ x[:i]
        x[i] = (b[i] - known) / L[i, i]
    return x


def backward_substitution(U, b):
    U, b = as_float(U), as_float(b)
    check_square("U", U)
    check_right_side(b, len(U))
    check_diagonal("U", U)
    n = len(U)
    x = np.zeros(b.shape, dtype=np.result_type(U, b))
    for row in range(n - 1, -1, -1):
        rest = U[row, row + 1 :] @ x[row + 1 :]
        x[row] = (b[row] - rest) / U[row, row]
    return x


def eliminate(A):
    """Return P, L, U and the number of swaps."""
    n = len(A)
    U = A.copy()
    L = np.eye(n, dtype=A.dtype)
    P = np.eye(n, dtype=A.dtype)
    swaps = 0
    for k in range(n):
        pivot = k + np.argmax(np.abs(U[k:, k]))
        if pivot != k:
            U[[k, pivot]] = U[[pivot, k]]
            P[[k, pivot]] = P[[pivot, k]]
            L[[k, pivot], :k] = L[[pivot, k], :k]
            swaps += 1
        if U[k, k] == 0:
            continue
        for i in range(k + 1, n):
            L[i, k] = U[i, k] / U[k, k]
            U[i, k:] -= L[i, k] * U[k, k:]
            U[i, k] = 0
    return P, L, U, swaps


def lu_decomposition(A):
    A = as_float(A)
    check_square("A", A)
    P, L, U, _ = eliminate(A)
    return P, L, U


def solve(A, b):
    A, b = as_float(A), as_float(b)
    check_square("A", A)
    check_right_side(b, len(A))
    P, L, U = lu_decomposition(A)
    pivots = np.abs(np.diagonal(U))
    if np.any(pivots <= rounding_limit(A, len(A))):
        raise ValueError("A: singular to working precision, expected independent rows")
    y = forward_substitution(L, P @ b)
    return backward_substitution(U, y)


def determinant(A):
    A = as_float(A)
    check_square("A", A)
    _, _, U, swaps = eliminate(A)
    return (-1) ** swaps * np.prod(np.diagonal(U))


def inverse(A):
    A = as_float(A)
    check_square("A", A)
    identity = np.eye(len(A), dtype=A.dtype)
    return solve(A, identity)


def qr_decomposition(A):
    A = as_float(A)
    if A.ndim != 2 or A.shape[0] < A.shape[1]:
        raise ValueError(f"A: shape {A.shape}, expected a matrix with no fewer rows than columns")
    m, n = A.shape
    Q = np.zeros((m, n), dtype=A.dtype)
    R = np.zeros((n, n), dtype=A.dtype)
    for j in range(n):
        v = A[:, j].copy()
        for _ in range(2):
            c = Q[:, :j].T @ v
            v -= Q[:, :j] @ c
            R[:j, j] += c
        length = np.linalg.norm(v)
        R[j, j] = length
        if length > 0:
            Q[:, j] = v / length
    return Q, R


def least_squares(A, b):
    A, b = as_float(A), as_float(b)
    Q, R = qr_decomposition(A)
    check_right_side(b, A.shape[0])
    if np.any(np.abs(np.diagonal(R)) <= rounding_limit(A, A.shape[0])):
        raise ValueError("A: columns are linearly dependent to working precision")
    return backward_substitution(R, Q.T @ b)


def power_iteration(A, num_iterations=1000, tolerance=1e-10, rng=None):
    A = as_float(A)
    check_square("A", A)
    if num_iterations < 1:
        raise ValueError(f"num_iterations: {num_iterations}, expected 1 or more")
    if rng is None:
        rng = np.random.default_rng()
    v = rng.normal(size=len(A)).astype(A.dtype)
    v /= np.linalg.norm(v)
    for _ in range(num_iterations):
        w = A @ v
        q = v @ w
        if np.linalg.norm(w - q * v) <= tolerance * np.abs(q):
            break
        v = w / np.linalg.norm(w)
    return v @ A @ v, v


def low_rank_approximation(A, rank):
    A = as_float(A)
    if A.ndim != 2:
        raise ValueError(f"A: shape {A.shape}, expected a matrix")
    if rank < 1 or rank > min(A.shape):
        raise ValueError(f"rank: {rank}, expected 1 to {min(A.shape)}")
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    return (U[:, :rank] * s[:rank]) @ Vt[:rank]
