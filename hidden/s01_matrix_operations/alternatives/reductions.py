"""Ufunc methods instead of sums and products: reduce, outer, accumulate and their likes, and fancy indexing."""

import functools

import numpy as np


def _vectors(*arrays):
    for array in arrays:
        if array.ndim != 1:
            raise ValueError(f"expected a vector, got shape {array.shape}")


def dot_product(v, w):
    _vectors(v, w)
    if v.shape != w.shape:
        raise ValueError(f"v has {v.size} entries and w has {w.size}")
    return np.add.reduce(np.multiply(v, w))


def outer_product(v, w):
    _vectors(v, w)
    return np.multiply.outer(v, w)


def vector_norm(v, p=2):
    _vectors(v)
    if p == 1:
        return np.add.reduce(np.fabs(v))
    if p == 2:
        return np.hypot.reduce(v)
    if np.isposinf(p):
        return np.maximum.reduce(np.fabs(v), initial=0)
    raise ValueError(f"p = {p} is not supported")


def cosine_similarity(v, w):
    product = dot_product(v, w)
    squares = dot_product(v, v) * dot_product(w, w)
    return np.divide(product, np.sqrt(squares), where=squares > 0, out=np.zeros_like(product / 1))


def matmul(A, B):
    if A.ndim != 2 or B.ndim != 2:
        raise ValueError(f"A and B must be matrices, got {A.shape} and {B.shape}")
    return batched_matmul(A, B)


def batched_matmul(A, B):
    if min(A.ndim, B.ndim) < 2 or A.shape[-1] != B.shape[-2]:
        raise ValueError(f"A {A.shape} and B {B.shape} do not fit")
    start = np.zeros((*broadcast_shape(A.shape[:-2], B.shape[:-2]), 1, 1), dtype=np.result_type(A, B))
    terms = (np.multiply(A[..., inner, np.newaxis], B[..., np.newaxis, inner, :]) for inner in range(A.shape[-1]))
    return functools.reduce(np.add, terms, np.repeat(np.repeat(start, A.shape[-2], -2), B.shape[-1], -1))


def swap_last_axes(A):
    if A.ndim < 2:
        raise ValueError(f"A has {A.ndim} axes, at least two are needed")
    return np.moveaxis(A, -1, -2)


def trace(A):
    if A.ndim != 2 or len(set(A.shape)) != 1:
        raise ValueError(f"A must be square, got {A.shape}")
    return np.add.reduce(A.ravel()[:: A.shape[0] + 1])


def frobenius_norm(A):
    if A.ndim != 2:
        raise ValueError(f"A must be a matrix, got {A.shape}")
    return np.sqrt(np.add.reduce(np.square(A), axis=None))


def broadcast_shape(a, b):
    if len(a) < len(b):
        return broadcast_shape(b, a)
    if not b:
        return tuple(a)
    *rest, m = a
    *other, n = b
    if m == 1 or n == 1 or m == n:
        return (*broadcast_shape(tuple(rest), tuple(other)), n if m == 1 else m)
    raise ValueError(f"{m} and {n} do not go together")


def pairwise_squared_distances(X, Y):
    if X.ndim != 2 or Y.ndim != 2 or X.shape[1] != Y.shape[1]:
        raise ValueError(f"X {X.shape} and Y {Y.shape} do not fit")
    differences = (np.subtract.outer(X[:, k], Y[:, k]) for k in range(X.shape[1]))
    return functools.reduce(np.add, map(np.square, differences))


def one_hot(indices, depth):
    indices = np.asarray(indices)
    flat = indices.ravel()
    if np.logical_or.reduce((flat < 0) | (flat >= depth)):
        raise ValueError(f"indices must be below {depth} and not negative")
    rows = np.zeros((flat.size, depth))
    np.add.at(rows, (np.arange(flat.size), flat), 1.0)
    return rows.reshape(*indices.shape, depth)
