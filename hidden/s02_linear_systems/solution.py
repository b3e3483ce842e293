"""Linear systems: triangular systems, LU and QR decompositions, and what follows from them.

Nothing in this module may use a finished solver or decomposition (`np.linalg.solve`, `inv`, `lstsq`, `qr`, `det`, the
eigenvalue functions and their relatives, listed in the README). `@`, `np.outer`, `np.triu`, `np.tril` and
`np.linalg.norm` are the tools; `np.linalg.svd` is allowed in the last function, and only there.

For all functions: inputs are never changed; float32 in gives float32 out, integers are computed with as float64 (what
float32 and float64 together give is left open); bad shapes and values raise ValueError with a sentence that names the
argument. eps is the machine epsilon of the dtype in use, `np.finfo(dtype).eps`: that of float32 for float32.
"""

import numpy as np


def _as_float(array):
    return np.array(array, dtype=np.result_type(array, np.float32))


def _square(name, matrix):
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{name}: shape {matrix.shape}, expected a square matrix")
    return _as_float(matrix)


def _triangular_system(name, matrix, b):
    """Return the matrix, and a copy of b, of the dtype of the solution, in which x may take the place of b."""
    matrix = _square(name, matrix)
    if b.ndim not in (1, 2) or len(b) != len(matrix):
        raise ValueError(f"b: shape {b.shape}, expected ({len(matrix)},) or ({len(matrix)}, k)")
    if np.any(np.diagonal(matrix) == 0):
        raise ValueError(f"{name}: a zero on the diagonal, expected none: the system is singular")
    return matrix, np.array(b, dtype=np.result_type(matrix, b))


def _has_negligible_pivot(triangle, A):
    """Say whether a diagonal entry of U or R is no more than what rounding leaves of a zero."""
    limit = 10 * len(A) * np.finfo(triangle.dtype).eps * np.linalg.norm(A)
    return np.any(np.abs(np.diagonal(triangle)) <= limit)


def forward_substitution(L, b):
    """Return the solution x of L x = b for a lower triangular L, found from the first unknown to the last.

    L has shape (n, n); only its diagonal and what is below are used, whatever stands above counts as zero, even
    NaN. The diagonal need not be 1. b has shape (n,), or (n, k) for k systems at once; x has the shape of b.

    Raises ValueError when L is not a square matrix, when b has not n rows or more than two axes, or when a diagonal
    entry of L is zero.

    Formula: x_i = (b_i - (L_i1 x_1 + ... + L_i,i-1 x_i-1)) / L_ii for i = 1, 2, ..., n.

    Example:
    >>> forward_substitution(np.array([[2.0, 0.0], [1.0, 4.0]]), np.array([6.0, 11.0]))
    array([3., 2.])
    """
    L, x = _triangular_system("L", L, b)
    for i in range(len(x)):
        x[i] = (x[i] - L[i, :i] @ x[:i]) / L[i, i]
    return x


def backward_substitution(U, b):
    """Return the solution x of U x = b for an upper triangular U, found from the last unknown to the first.

    U has shape (n, n); only its diagonal and what is above are used, whatever stands below counts as zero, even
    NaN. b has shape (n,), or (n, k) for k systems at once; x has the shape of b.

    Raises ValueError when U is not a square matrix, when b has not n rows or more than two axes, or when a diagonal
    entry of U is zero.

    Formula: x_i = (b_i - (U_i,i+1 x_i+1 + ... + U_in x_n)) / U_ii for i = n, n - 1, ..., 1.

    Example:
    >>> backward_substitution(np.array([[2.0, 1.0], [0.0, 4.0]]), np.array([7.0, 12.0]))
    array([2., 3.])
    """
    U, x = _triangular_system("U", U, b)
    for i in reversed(range(len(x))):
        x[i] = (x[i] - U[i, i + 1 :] @ x[i + 1 :]) / U[i, i]
    return x


def _eliminate(A):
    """Return the order of A's rows, U with the multipliers of L below its diagonal, and the sign of the order."""
    work = _square("A", A)
    order, sign = np.arange(len(work)), 1
    for k in range(len(work)):
        pivot = k + np.argmax(np.abs(work[k:, k]))
        if pivot != k:
            work[[k, pivot]] = work[[pivot, k]]
            order[[k, pivot]] = order[[pivot, k]]
            sign = -sign
        if work[k, k] != 0:
            work[k + 1 :, k] /= work[k, k]
            work[k + 1 :, k + 1 :] -= np.outer(work[k + 1 :, k], work[k, k + 1 :])
    return order, work, sign


def _factors(A):
    order, work, _ = _eliminate(A)
    identity = np.eye(len(work), dtype=work.dtype)
    return identity[order], np.tril(work, -1) + identity, np.triu(work)


def _regular_factors(A):
    P, L, U = _factors(A)
    if _has_negligible_pivot(U, A):
        raise ValueError("A: singular to working precision, expected a matrix with an inverse")
    return P, L, U


def lu_decomposition(A):
    """Return P, L and U with P @ A = L @ U, by Gaussian elimination with partial pivoting.

    A has shape (n, n), as have the three results, all of them floating. P is a permutation matrix (a single 1 in each
    row and column, else zeros), L is lower triangular with ones on its diagonal, U is upper triangular. Partial
    pivoting: of the entries on and below the diagonal of the column whose turn it is, the one of the largest absolute
    value comes to the diagonal by a swap of rows; so no entry of L exceeds 1 in absolute value. Of two equally large,
    either will do.

    A singular A is decomposed as well: where nothing but zeros is left in a column on and below the diagonal, nothing
    is to be eliminated, and U has a zero on its diagonal there.

    Raises ValueError when A is not a square matrix.

    Source: Golub and Van Loan, Matrix Computations, algorithm 3.4.1.

    Example:
    >>> P, L, U = lu_decomposition(np.array([[1.0, 2.0], [4.0, 4.0]]))
    >>> P
    array([[0., 1.],
           [1., 0.]])
    >>> L
    array([[1.  , 0.  ],
           [0.25, 1.  ]])
    >>> U
    array([[4., 4.],
           [0., 1.]])
    """
    return _factors(A)


def solve(A, b):
    """Return the solution x of A x = b for a square matrix A.

    A has shape (n, n). b has shape (n,), or (n, k) for k systems at once; x has the shape of b.

    Raises ValueError when A is not a square matrix, when b has not n rows or more than two axes, or when A is
    singular to working precision: when a pivot is at most 10 * n * eps * |A|, |A| being the Frobenius norm. So much
    rounding may leave where an exact calculation has a zero; it grows and shrinks with the entries of A.

    Method: P A = L U turns A x = b into L y = P b and U x = y.

    Example:
    >>> solve(np.array([[1.0, 2.0], [4.0, 4.0]]), np.array([5.0, 12.0]))
    array([1., 2.])
    """
    P, L, U = _regular_factors(A)
    return backward_substitution(U, forward_substitution(L, P @ b))


def determinant(A):
    """Return the determinant of a square matrix, as a number.

    A has shape (n, n). A singular matrix has determinant 0, up to rounding; it is no error. A small determinant is a
    determinant like any other, and is not rounded to 0.

    Raises ValueError when A is not a square matrix.

    Formula: det A = (-1)^s U_11 U_22 ... U_nn, with s the number of swaps of rows in P A = L U.

    Example:
    >>> print(determinant(np.array([[1.0, 2.0], [4.0, 4.0]])))
    -4.0
    """
    _, work, sign = _eliminate(A)
    return sign * np.prod(np.diagonal(work))


def inverse(A):
    """Return the inverse of a square matrix, the matrix X with A X = X A = I.

    A has shape (n, n), and so has the result.

    Raises ValueError when A is not a square matrix, or when it is singular to working precision (see solve).

    Method: column j of the inverse solves A x = column j of the identity I, so L U X = P I.

    Example:
    >>> inverse(np.array([[1.0, 2.0], [4.0, 4.0]]))
    array([[-1.  ,  0.5 ],
           [ 1.  , -0.25]])
    """
    P, L, U = _regular_factors(A)
    return backward_substitution(U, forward_substitution(L, P))


def qr_decomposition(A):
    """Return Q and R with A = Q @ R, Q having orthonormal columns and R being upper triangular.

    A has shape (m, n) with m >= n; Q has shape (m, n), R has shape (n, n): the reduced decomposition. The signs are
    free: a column of Q may be negated together with the row of R that belongs to it.

    The columns of Q are orthonormal to rounding, for an ill-conditioned A as well, such as a Hilbert matrix. Only if
    columns of A are linearly dependent, nothing is promised of Q but A = Q R, with a zero (up to rounding) on the
    diagonal of R; a column of zeros gives no NaN.

    Raises ValueError when A is not a matrix, or has fewer rows than columns.

    Method: Householder reflections I - 2 v v^T, the k-th of which clears column k below the diagonal (Golub and Van
    Loan, section 5.2). Gram-Schmidt orthogonalisation, done twice for each column, is as good.

    Example:
    >>> Q, R = qr_decomposition(np.array([[3.0, 1.0], [4.0, 3.0]]))
    >>> np.abs(R).round(6)
    array([[5., 3.],
           [0., 1.]])
    """
    if A.ndim != 2 or A.shape[0] < A.shape[1]:
        raise ValueError(f"A: shape {A.shape}, expected a matrix with at least as many rows as columns")
    R = _as_float(A)
    Q = np.eye(*A.shape, dtype=R.dtype)
    reflectors = []
    for k in range(A.shape[1]):
        v = R[k:, k].copy()
        v[0] += np.copysign(np.linalg.norm(v), v[0])
        v /= np.linalg.norm(v) or 1
        R[k:] -= 2 * np.outer(v, v @ R[k:])
        reflectors.append(v)
    for v in reversed(reflectors):
        start = len(Q) - len(v)
        Q[start:] -= 2 * np.outer(v, v @ Q[start:])
    return Q, np.triu(R[: A.shape[1]])


def least_squares(A, b):
    """Return the x for which the squared length of the residual, |A x - b|^2, is smallest.

    A has shape (m, n) with m >= n. b has shape (m,), or (m, k) for k problems at once; x has shape (n,) or (n, k).

    It loses no more digits than the problem itself: about log10 c of 16 where the columns of A have condition number
    c and A x comes close to b. The normal equations A^T A x = A^T b lose twice as many.

    Raises ValueError when A is not a matrix, when it has fewer rows than columns, when b has not m rows or more than
    two axes, or when the columns of A are linearly dependent to working precision: when a diagonal entry of R is at
    most 10 * m * eps * |A| in absolute value, |A| being the Frobenius norm.

    Formula: A = Q R turns it into R x = Q^T b (Trefethen and Bau, Numerical Linear Algebra, lecture 11).

    Example:
    >>> least_squares(np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([1.0, 2.0, 6.0])).round(6)
    array([0.5, 2.5])
    """
    Q, R = qr_decomposition(A)
    if _has_negligible_pivot(R, A):
        raise ValueError("A: columns are linearly dependent to working precision, expected independent ones")
    return backward_substitution(R, Q.T @ b)


def power_iteration(A, num_iterations=1000, tolerance=1e-10, rng=None):
    """Return the eigenvalue of largest absolute value, and its eigenvector, by repeated multiplication with A.

    A has shape (n, n) and need not be symmetric; num_iterations is at least 1. The result is (eigenvalue,
    eigenvector), a number and an array of shape (n,) and length 1, whose sign is free.

    It starts at a random direction v, from normally distributed entries drawn from rng (a fresh generator if None).
    Before each step it stops if |A v - q v| <= tolerance * |q|, q = v^T A v being the Rayleigh quotient; a step
    replaces v by A v / |A v|. After num_iterations steps it ends in any case. It returns the last v and its own
    q = v^T A v. For the zero matrix the eigenvalue is 0, and any v is right.

    Raises ValueError when A is not a square matrix, or when num_iterations is below 1. Where no single eigenvalue
    dominates it does not converge, and returns where it has got to.

    Source: Golub and Van Loan, Matrix Computations, section 7.3.1.

    Example:
    >>> value, vector = power_iteration(np.array([[2.0, 1.0], [1.0, 2.0]]), rng=np.random.default_rng(0))
    >>> print(round(value, 6), np.abs(vector).round(6))
    3.0 [0.707107 0.707107]
    """
    A = _square("A", A)
    if num_iterations < 1:
        raise ValueError(f"num_iterations: {num_iterations}, expected at least 1")
    rng = np.random.default_rng() if rng is None else rng
    vector = rng.normal(size=len(A)).astype(A.dtype)
    vector /= np.linalg.norm(vector)
    for _ in range(num_iterations):
        product = A @ vector
        quotient = vector @ product
        if np.linalg.norm(product - quotient * vector) <= tolerance * abs(quotient):
            break
        vector = product / np.linalg.norm(product)
    return vector @ A @ vector, vector


def low_rank_approximation(A, rank):
    """Return the matrix of at most the given rank that is closest to A.

    A has shape (m, n), and so has the result. rank is an int from 1 to the smaller of m and n. No matrix of that rank
    has a smaller distance to A, in the Frobenius norm and in the spectral norm.

    Raises ValueError when A is not a matrix, or when rank is below 1 or above the smaller of m and n.

    Formula: with the singular value decomposition A = sum of s_i u_i v_i^T, s_1 >= s_2 >= ..., keep the first rank
    terms (Eckart and Young 1936). The squared Frobenius distance is the sum of the other s_i^2.

    Example:
    >>> low_rank_approximation(np.array([[3.0, 0.0], [0.0, 1.0]]), 1).round(6)
    array([[3., 0.],
           [0., 0.]])
    """
    if A.ndim != 2:
        raise ValueError(f"A: shape {A.shape}, expected a matrix")
    if not 1 <= rank <= min(A.shape):
        raise ValueError(f"rank: {rank}, expected 1 to {min(A.shape)}")
    U, s, Vt = np.linalg.svd(A)
    return U[:, :rank] * s[:rank] @ Vt[:rank]
