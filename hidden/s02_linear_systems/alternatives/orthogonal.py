"""Everything from one QR decomposition, Gram-Schmidt twice with einsum, in float64 whatever comes in."""

import numpy as np


def _answer(value, *arrays):
    return np.asarray(value).astype(np.result_type(*arrays, np.float32))


def _wide(A, square=True):
    if A.ndim != 2 or A.shape[0] < A.shape[1] or (square and A.shape[0] != A.shape[1]):
        raise ValueError(f"a matrix of shape {A.shape} will not do")
    return np.asfortranarray(A, dtype=np.float64)


def _right(b, rows):
    if b.ndim not in (1, 2) or b.shape[0] != rows:
        raise ValueError(f"b of shape {b.shape} will not do, {rows} rows are needed")
    return b.astype(np.float64)


def forward_substitution(L, b):
    """As an upper triangular system, both axes turned round."""
    turned = _wide(L)[::-1, ::-1]
    return _answer(backward_substitution(turned, _right(b, len(turned))[::-1])[::-1], L, b)


def backward_substitution(U, b):
    """By halves: the lower half of the unknowns, then the upper half."""
    U_wide = _wide(U)
    right = _right(b, len(U_wide))
    return _answer(_halves(U_wide, right), U, b)


def _halves(U, b):
    n = len(U)
    if n == 1:
        if U[0, 0] == 0:
            raise ValueError("a zero on the diagonal")
        return b / U[0, 0]
    middle = n // 2
    below = _halves(U[middle:, middle:], b[middle:])
    above = _halves(U[:middle, :middle], b[:middle] - U[:middle, middle:] @ below)
    return np.concatenate([above, below])


def lu_decomposition(A):
    """Crout's order: one column of L and U after the other, rows reordered by index only."""
    columns = _wide(A)
    n = len(columns)
    order = np.arange(n)
    L, U = np.zeros((n, n)), np.zeros((n, n))
    for k in range(n):
        column = columns[order, k]
        for j in range(k):
            column[j + 1 :] -= L[j + 1 :, j] * column[j]
        best = k + int(np.abs(column[k:]).argmax())
        for each in (order, L, column):
            each[[k, best]] = each[[best, k]]
        U[: k + 1, k] = column[: k + 1]
        if column[k] != 0:
            L[k + 1 :, k] = column[k + 1 :] / column[k]
        L[k, k] = 1.0
    P = np.zeros((n, n))
    P[np.arange(n), order] = 1.0
    return tuple(_answer(factor, A) for factor in (P, L, U))


def _negligible(R, A):
    return np.abs(np.diag(R)).min() <= 10 * len(A) * np.finfo(_answer(A, A).dtype).eps * np.linalg.norm(A)


def solve(A, b):
    _wide(A)
    return least_squares(A, b)


def determinant(A):
    """The pivots of LU, the sign from the cycles of its permutation: one of even length turns the sign."""
    P, _, U = lu_decomposition(A.astype(np.float64))
    order, seen, sign = P.argmax(axis=1), set(), 1
    for start in range(len(order)):
        length = 0
        while start not in seen:
            seen.add(start)
            start, length = int(order[start]), length + 1
        sign *= -1 if length and length % 2 == 0 else 1
    return float(sign * np.diag(U).prod())


def inverse(A):
    wide = _wide(A)
    if _negligible(lu_decomposition(wide)[2], A):
        raise ValueError("A is singular")
    Q, R = qr_decomposition(wide)
    return _answer(backward_substitution(R, Q.T), A)


def qr_decomposition(A):
    columns = _wide(A, square=False)
    m, n = columns.shape
    Q, R = np.zeros((m, n)), np.zeros((n, n))
    for j in range(n):
        v = columns[:, j]
        for _ in range(2):
            shares = np.einsum("mj,m->j", Q[:, :j], v)
            v = v - np.einsum("mj,j->m", Q[:, :j], shares)
            R[:j, j] += shares
        R[j, j] = np.sqrt(np.einsum("m,m", v, v))
        Q[:, j] = v if R[j, j] == 0 else v / R[j, j]
    return _answer(Q, A), _answer(R, A)


def least_squares(A, b):
    """x = R^-1 Q^T b, then once more for the residual, which mends what rounding has done."""
    wide = _wide(A, square=False)
    right = _right(b, len(wide))
    Q, R = qr_decomposition(wide)
    if _negligible(R, A):
        raise ValueError("the columns of A are dependent")
    x = backward_substitution(R, Q.T @ right)
    x = x + backward_substitution(R, Q.T @ (right - wide @ x))
    return _answer(x, A, b)


def power_iteration(A, num_iterations=1000, tolerance=1e-10, rng=None):
    """The direction after k steps is A^k v; lengths are divided out with every step."""
    wide = _wide(A)
    if num_iterations < 1:
        raise ValueError(f"num_iterations is {num_iterations}")
    rng = np.random.default_rng(rng)
    v = rng.standard_normal(len(wide))[::-1]
    v = v / np.linalg.norm(v)
    steps = 0
    while steps < num_iterations:
        w = wide @ v
        q = np.dot(w, v)
        if np.abs(q) * tolerance >= np.linalg.norm(w - q * v):
            break
        v = w / np.linalg.norm(w)
        steps += 1
    return np.einsum("i,ij,j", v, wide, v), -_answer(v, A)


def low_rank_approximation(A, rank):
    """Take off the terms beyond rank."""
    if A.ndim != 2 or rank < 1 or rank > min(A.shape):
        raise ValueError(f"A {A.shape} has no approximation of rank {rank}")
    U, s, Vt = np.linalg.svd(A.astype(np.float64), full_matrices=False)
    return _answer(A - np.einsum("i,mi,in->mn", s[rank:], U[:, rank:], Vt[rank:]), A)
