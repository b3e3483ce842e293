"""Matrix operations from their definitions: products, norms, transposes, broadcasting, distances and one-hot rows.

Nothing in this module may use a finished product (`@`, `np.matmul`, `np.dot`, `np.einsum`, `np.linalg` and their
relatives, listed in the README). Arithmetic, `np.sum`, indexing and reshaping are the tools.

For all functions: inputs are never changed; a float32 array in gives a float32 array out; integers with floats give
floats, whichever comes first (what float32 and float64 together give is left open); a number comes back as a float
(Python or NumPy); bad shapes and values raise ValueError with a sentence that names the argument. Arguments are arrays:
in the examples [3, 4] is short for np.array([3, 4]), and (8, 1, 6) is a tuple.
"""

import numpy as np


def _require_ndim(ndim, **arrays):
    kind = {1: "a vector", 2: "a matrix"}[ndim]
    for name, array in arrays.items():
        if array.ndim != ndim:
            raise ValueError(f"{name} must be {kind}, got shape {array.shape}")


def _compatible(a, b):
    return all(m == n or 1 in (m, n) for m, n in zip(reversed(a), reversed(b), strict=False))


def dot_product(v, w):
    """Return the dot product of two vectors, the sum of the products of their entries.

    v and w have shape (n,); the result is one number. Two empty vectors give 0.0, the sum of no terms.

    Raises ValueError when v or w is not a vector, or when their lengths differ (a length of 1 is not stretched).

    Formula: v . w = v_1 w_1 + v_2 w_2 + ... + v_n w_n.
    Example: v = [1, 2, 3] and w = [4, -5, 6] give 4 - 10 + 18 = 12.0.
    """
    _require_ndim(1, v=v, w=w)
    if len(v) != len(w):
        raise ValueError(f"v and w must have the same length, got {len(v)} and {len(w)}")
    return np.sum(v * w)


def outer_product(v, w):
    """Return the outer product of two vectors, the table of all products of an entry of v and an entry of w.

    v has shape (n,), w has shape (m,); the result has shape (n, m): rows follow v, columns follow w.

    Raises ValueError when v or w is not a vector. The lengths may differ.

    Formula: result_ij = v_i w_j.
    Example: v = [1, 2, 3] and w = [10, 100] give [[10, 100], [20, 200], [30, 300]].
    """
    _require_ndim(1, v=v, w=w)
    return v[:, np.newaxis] * w[np.newaxis, :]


def vector_norm(v, p=2):
    """Return the p-norm of a vector for p = 1, 2 or infinity.

    v has shape (n,); the result is one number, never negative. p is 1, 2 (Euclidean length, the default) or np.inf.
    An empty vector has norm 0.0 for each of these.

    Raises ValueError when v is not a vector, or for any other p (also 3 or 0.5, for which a norm could be defined),
    whatever v holds.

    Formula: p = 1: |v_1| + ... + |v_n|; p = 2: sqrt(v_1^2 + ... + v_n^2); p = inf: the largest |v_i|.
    Example: v = [3, -4] gives 7.0 for p = 1, 5.0 for p = 2 and 4.0 for p = np.inf.
    """
    _require_ndim(1, v=v)
    if p == 1:
        return np.sum(np.abs(v))
    if p == 2:
        return np.sqrt(np.sum(v * v))
    if p == np.inf:
        return np.max(np.abs(v), initial=0.0)
    raise ValueError(f"p must be 1, 2 or np.inf, got {p!r}")


def cosine_similarity(v, w):
    """Return the cosine of the angle between two vectors.

    v and w have shape (n,); the result is one number between -1 and 1, up to rounding. It depends on directions
    only: v and 1e-5 * v have the same similarity to w. If v or w is all zeros there is no angle, and the result is 0.0.

    Raises ValueError when v or w is not a vector, or when their lengths differ.

    Formula: cos(v, w) = v . w / (|v| |w|), with Euclidean lengths.
    Example: v = [3, 4] and w = [4, 3] give 24 / (5 * 5) = 0.96.
    """
    lengths = vector_norm(v) * vector_norm(w)
    similarity = dot_product(v, w)
    return similarity / lengths if lengths > 0 else 0.0


def matmul(A, B):
    """Return the matrix product of two matrices.

    A has shape (m, k), B has shape (k, n); the result has shape (m, n). With k = 0 it is all zeros.

    Raises ValueError when A or B is not a matrix (vectors and stacks too: see batched_matmul), or when the number of
    columns of A differs from the number of rows of B.

    Formula: result_ij = A_i1 B_1j + A_i2 B_2j + ... + A_ik B_kj.
    Example: A = [[1, 2], [3, 4]] and B = [[5, 6], [7, 8]] give [[19, 22], [43, 50]].
    """
    _require_ndim(2, A=A, B=B)
    if A.shape[1] != B.shape[0]:
        raise ValueError(f"A has {A.shape[1]} columns, so B must have that many rows, got {B.shape[0]}")
    result = np.zeros((A.shape[0], B.shape[1]), dtype=np.result_type(A, B))
    for inner in range(A.shape[1]):
        result += A[:, [inner]] * B[inner]
    return result


def batched_matmul(A, B):
    """Return the matrix product of two stacks of matrices, one product for each place in the stacks.

    A has shape (..., m, k), B has shape (..., k, n); the result has shape (..., m, n). The last two axes are the
    matrices; the axes before them broadcast by the usual rules, so either stack may be one plain matrix.

    Raises ValueError when A or B has fewer than two axes, when their k differ (1 is not stretched there), or when the
    leading axes do not broadcast.

    Formula: result[..., i, j] = sum over l of A[..., i, l] B[..., l, j].
    Example: A of shape (8, 1, 6, 4) and B of shape (2, 4, 6) give shape (8, 2, 6, 6).
    """
    if A.ndim < 2 or B.ndim < 2:
        raise ValueError(f"A and B must have at least two axes each, got shapes {A.shape} and {B.shape}")
    if A.shape[-1] != B.shape[-2]:
        raise ValueError(f"A has {A.shape[-1]} columns, so B must have that many rows, got {B.shape[-2]}")
    if not _compatible(A.shape[:-2], B.shape[:-2]):
        raise ValueError(f"the leading axes of A {A.shape[:-2]} and of B {B.shape[:-2]} do not broadcast")
    products = A[..., np.newaxis] * B[..., np.newaxis, :, :]
    return np.sum(products, axis=-2)


def swap_last_axes(A):
    """Return A with its last two axes exchanged: the transpose of every matrix in a stack.

    A has shape (..., m, n); the result has shape (..., n, m), with result[..., j, i] = A[..., i, j]. Leading axes keep
    their places. The result may share memory with A.

    Raises ValueError when A has fewer than two axes.

    Example: shape (2, 3, 4) becomes (2, 4, 3); [[1, 2, 3], [4, 5, 6]] becomes [[1, 4], [2, 5], [3, 6]].
    """
    if A.ndim < 2:
        raise ValueError(f"A must have at least two axes, got shape {A.shape}")
    return np.swapaxes(A, -1, -2)


def trace(A):
    """Return the trace of a square matrix, the sum of its main diagonal.

    A has shape (n, n); the result is one number. A matrix of shape (0, 0) has trace 0.0.

    Raises ValueError when A is not a matrix, or not square.

    Formula: tr A = A_11 + A_22 + ... + A_nn.
    Example: A = [[1, 2], [3, 4]] gives 1 + 4 = 5.0.
    """
    _require_ndim(2, A=A)
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"A must be square, got shape {A.shape}")
    return np.sum(np.diagonal(A))


def frobenius_norm(A):
    """Return the Frobenius norm of a matrix, its length when its entries are read as one long vector.

    A has shape (m, n), square or not; the result is one number, never negative. A matrix without entries gives 0.0.

    Raises ValueError when A is not a matrix.

    Formula: |A|_F = sqrt(sum over i and j of A_ij^2) (Golub and Van Loan, Matrix Computations, section 2.3).
    Example: A = [[1, 2], [2, 4]] gives sqrt(1 + 4 + 4 + 16) = 5.0.
    """
    _require_ndim(2, A=A)
    return np.sqrt(np.sum(A * A))


def broadcast_shape(a, b):
    """Return the shape that two arrays of the shapes a and b have once they are broadcast together.

    a and b are shapes: tuples of non-negative integers, possibly of different lengths, possibly empty. The result is a
    tuple of ints, as long as the longer of the two. No array is involved.

    Raises ValueError when the shapes are not compatible.

    Rule: align the shapes at their last axis; a missing axis counts as 1; two sizes go together when they are equal or
    when one of them is 1, which is then stretched to the other, even to 0 (numpy.org, "Broadcasting").
    Example: (8, 1, 6) and (7, 1) give (8, 7, 6); (3,) and (4,) raise ValueError.
    """
    if not _compatible(a, b):
        raise ValueError(f"the shapes a = {a} and b = {b} do not broadcast together")
    rank = max(len(a), len(b))
    left = (1,) * (rank - len(a)) + a
    right = (1,) * (rank - len(b)) + b
    return tuple(n if m == 1 else m for m, n in zip(left, right, strict=True))


def pairwise_squared_distances(X, Y):
    """Return the squared Euclidean distance of each row of X to each row of Y.

    X has shape (n, d), Y has shape (m, d); the result has shape (n, m). No entry is negative, not even by rounding.
    With eps the machine epsilon of the dtype, an error of up to 64 d eps times the largest squared length of a row is
    accepted: rows that lie close together and far from the origin need not be resolved further.

    Raises ValueError when X or Y is not a matrix, or when they differ in d.

    Formula: result_ij = sum over k of (X_ik - Y_jk)^2 = |X_i|^2 + |Y_j|^2 - 2 X_i . Y_j. Neither form needs a
    temporary array of shape (n, m, d).
    Example: X = [[0, 0], [3, 4]] and Y = [[0, 0], [3, 0], [0, 1]] give [[0, 9, 1], [25, 16, 18]].
    """
    _require_ndim(2, X=X, Y=Y)
    if X.shape[1] != Y.shape[1]:
        raise ValueError(f"X and Y must have the same number of columns, got {X.shape[1]} and {Y.shape[1]}")
    result = np.zeros((len(X), len(Y)), dtype=np.result_type(X, Y))
    for k in range(X.shape[1]):
        result += (X[:, [k]] - Y[:, k]) ** 2
    return result


def one_hot(indices, depth):
    """Return, for every index, a row of zeros with a single one at that index.

    indices is an int or an integer array of any shape (...), with values from 0 to depth - 1; depth is a positive int.
    The result is float64 of shape (..., depth): the new axis comes last. An int counts as shape (), and gives
    (depth,); no indices, shape (0,), give (0, depth).

    Raises ValueError when an index is negative, or is depth or more.

    Formula: result[..., j] = 1 where indices[...] = j, else 0.
    Example: indices = [2, 0] and depth = 3 give [[0, 0, 1], [1, 0, 0]].
    """
    indices = np.asarray(indices)
    outside = (indices < 0) | (indices >= depth)
    if np.any(outside):
        raise ValueError(f"indices must lie from 0 to {depth - 1}, got {indices[outside][0]}")
    return (indices[..., np.newaxis] == np.arange(depth)).astype(np.float64)
