"""No loops: every operation is one broadcast expression over all entries, and a sum over the axes that go."""

import numpy as np


def _check(condition, what, *arrays):
    if not condition:
        raise ValueError(f"{what}, got shapes {[array.shape for array in arrays]}")


def dot_product(v, w):
    _check(v.ndim == w.ndim == 1 and v.size == w.size, "v and w must be vectors of one length", v, w)
    return (v * w).sum()


def outer_product(v, w):
    _check(v.ndim == w.ndim == 1, "v and w must be vectors", v, w)
    return v[:, None] * w


def vector_norm(v, p=2):
    _check(v.ndim == 1, "v must be a vector", v)
    absolute = abs(v)
    match p:
        case 1:
            return absolute.sum()
        case 2:
            scale = absolute.max(initial=0.0)
            return scale * np.sqrt(((v / scale) ** 2).sum()) if scale else scale
        case np.inf:
            return absolute.max(initial=0)
    raise ValueError(f"p must be 1, 2 or infinity, got {p}")


def cosine_similarity(v, w):
    _check(v.ndim == w.ndim == 1 and v.size == w.size, "v and w must be vectors of one length", v, w)
    if not v.any() or not w.any():
        return 0.0
    unit_v, unit_w = v / vector_norm(v), w / vector_norm(w)
    return np.clip((unit_v * unit_w).sum(), -1, 1)


def matmul(A, B):
    _check(A.ndim == B.ndim == 2 and A.shape[1] == B.shape[0], "A and B must be (m, k) and (k, n)", A, B)
    return (A[:, :, None] * B).sum(axis=1)


def batched_matmul(A, B):
    _check(A.ndim >= 2 and B.ndim >= 2, "A and B must have two axes or more", A, B)
    _check(A.shape[-1] == B.shape[-2], "A and B must be (..., m, k) and (..., k, n)", A, B)
    columns = np.swapaxes(B, -1, -2)
    return (A[..., :, None, :] * columns[..., None, :, :]).sum(axis=-1)


def swap_last_axes(A):
    _check(A.ndim >= 2, "A must have two axes or more", A)
    return A.transpose(*range(A.ndim - 2), -1, -2)


def trace(A):
    _check(A.ndim == 2 and A.shape[0] == A.shape[1], "A must be a square matrix", A)
    return (A * np.eye(len(A))).sum()


def frobenius_norm(A):
    _check(A.ndim == 2, "A must be a matrix", A)
    return (A**2).sum() ** 0.5


def broadcast_shape(a, b):
    rank = max(len(a), len(b))
    shapes = np.ones((2, rank), dtype=np.int64)
    shapes[0, rank - len(a) :] = a
    shapes[1, rank - len(b) :] = b
    if np.any((shapes[0] != shapes[1]) & (shapes != 1).all(axis=0)):
        raise ValueError(f"a = {a} and b = {b} do not broadcast together")
    return tuple(int(size) for size in np.where(shapes[0] == 1, shapes[1], shapes[0]))


def pairwise_squared_distances(X, Y):
    _check(X.ndim == Y.ndim == 2 and X.shape[1] == Y.shape[1], "X and Y must be (n, d) and (m, d)", X, Y)
    return ((X[:, None, :] - Y) ** 2).sum(axis=-1)


def one_hot(indices, depth):
    indices = np.asarray(indices)
    if not ((0 <= indices) & (indices < depth)).all():
        raise ValueError(f"indices must lie from 0 to {depth - 1}")
    return np.eye(depth)[indices]
