"""Everything is computed and returned in float32, whatever comes in."""

import numpy as np


def _single(array, ndim):
    if array.ndim != ndim:
        raise ValueError(f"expected {ndim} axes, got shape {array.shape}")
    return array.astype(np.float32)


def dot_product(v, w):
    v, w = _single(v, 1), _single(w, 1)
    if len(v) != len(w):
        raise ValueError(f"v has {len(v)} entries, w has {len(w)}")
    return np.sum(v * w)


def outer_product(v, w):
    return _single(v, 1)[:, None] * _single(w, 1)[None, :]


def vector_norm(v, p=2):
    v = np.abs(_single(v, 1))
    if p == 1:
        return v.sum()
    if p == 2:
        return np.sqrt((v * v).sum())
    if p == np.inf:
        return v.max(initial=np.float32(0))
    raise ValueError(f"p must be 1, 2 or infinity, got {p}")


def cosine_similarity(v, w):
    product = dot_product(v, w)
    length_v, length_w = vector_norm(v), vector_norm(w)
    return np.float32(0) if 0 in (length_v, length_w) else product / length_v / length_w


def matmul(A, B):
    A, B = _single(A, 2), _single(B, 2)
    if A.shape[1] != B.shape[0]:
        raise ValueError(f"A {A.shape} and B {B.shape} do not fit")
    result = np.zeros((A.shape[0], B.shape[1]), dtype=np.float32)
    for inner in range(A.shape[1]):
        result += A[:, inner : inner + 1] * B[inner : inner + 1, :]
    return result


def batched_matmul(A, B):
    if A.ndim < 2 or B.ndim < 2 or A.shape[-1] != B.shape[-2]:
        raise ValueError(f"A {A.shape} and B {B.shape} do not fit")
    A, B = A.astype(np.float32), B.astype(np.float32)
    return np.sum(A[..., None] * B[..., None, :, :], axis=-2)


def swap_last_axes(A):
    if A.ndim < 2:
        raise ValueError(f"A must have two axes or more, got shape {A.shape}")
    return np.swapaxes(A, -2, -1).astype(np.float32)


def trace(A):
    A = _single(A, 2)
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"A must be square, got {A.shape}")
    n = np.arange(len(A))
    return A[n, n].sum()


def frobenius_norm(A):
    return vector_norm(_single(A, 2).reshape(-1), 2)


def broadcast_shape(a, b):
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    result = list(longer)
    for back, size in enumerate(reversed(shorter), start=1):
        if result[-back] == 1:
            result[-back] = size
        elif size not in (1, result[-back]):
            raise ValueError(f"{size} and {result[-back]} do not go together")
    return tuple(result)


def pairwise_squared_distances(X, Y):
    X, Y = _single(X, 2), _single(Y, 2)
    if X.shape[1] != Y.shape[1]:
        raise ValueError(f"X {X.shape} and Y {Y.shape} do not fit")
    lengths = np.sum(X**2, axis=1, keepdims=True) + np.sum(Y**2, axis=1)
    return np.clip(lengths - 2 * matmul(X, Y.T), 0, None)


def one_hot(indices, depth):
    indices = np.asarray(indices)
    if indices.size and (indices.min() < 0 or indices.max() >= depth):
        raise ValueError(f"indices must lie from 0 to {depth - 1}")
    return np.equal.outer(indices, np.arange(depth)).astype(np.float32)
