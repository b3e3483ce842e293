"""Right answers in unusual clothes: Python floats, arrays without axes, lists, Fortran order, strided views."""

import math
import operator
from itertools import zip_longest

import numpy as np


def _vector(name, v):
    if v.ndim != 1:
        raise ValueError(f"{name} must be a vector, got shape {v.shape}")
    return v.tolist()


def _matrix(name, A):
    if A.ndim != 2:
        raise ValueError(f"{name} must be a matrix, got shape {A.shape}")
    return A.tolist()


def _view(rows, shape, dtype):
    """The values as every second entry of a larger array in Fortran order."""
    large = np.full([2 * size for size in shape], np.nan, dtype=dtype, order="F")
    view = large[tuple(slice(None, None, 2) for _ in shape)]
    view[...] = np.reshape(rows, shape)
    return view


def dot_product(v, w):
    return math.fsum(x * y for x, y in zip(_vector("v", v), _vector("w", w), strict=True))


def outer_product(v, w):
    rows = [[x * y for y in _vector("w", w)] for x in _vector("v", v)]
    _vector("w", w)
    return _view(rows, (len(v), len(w)), np.result_type(v, w))


def vector_norm(v, p=2):
    sizes = [abs(x) for x in _vector("v", v)]
    norms = {1: math.fsum, 2: lambda entries: math.hypot(*entries), math.inf: lambda entries: max(entries, default=0)}
    if p not in norms:
        raise ValueError(f"p must be one of {list(norms)}, got {p}")
    return np.array(norms[p](sizes))


def cosine_similarity(v, w):
    product = dot_product(v, w)
    lengths = [float(vector_norm(u)) for u in (v, w)]
    return product / math.prod(lengths) if all(lengths) else 0


def matmul(A, B):
    left, right = _matrix("A", A), _matrix("B", B)
    if A.shape[1] != B.shape[0]:
        raise ValueError(f"A {A.shape} and B {B.shape} do not fit")
    columns = list(zip(*right, strict=True)) or [()] * B.shape[1]
    rows = [[math.fsum(map(operator.mul, row, column)) for column in columns] for row in left]
    return _view(rows, (A.shape[0], B.shape[1]), np.result_type(A, B))


def batched_matmul(A, B):
    if A.ndim == 2 and B.ndim == 2:
        return matmul(A, B)
    if min(A.ndim, B.ndim) < 2:
        raise ValueError(f"A {A.shape} and B {B.shape} must have two axes or more")
    leading = broadcast_shape(A.shape[:-2], B.shape[:-2])
    A, B = (stack.reshape((1,) * (len(leading) + 2 - stack.ndim) + stack.shape) for stack in (A, B))
    parts = [batched_matmul(A[min(i, len(A) - 1)], B[min(i, len(B) - 1)]) for i in range(leading[0])]
    return np.stack(parts, axis=0)


def swap_last_axes(A):
    if A.ndim < 2:
        raise ValueError(f"A must have two axes or more, got shape {A.shape}")
    return np.asfortranarray(np.rollaxis(A, A.ndim - 1, A.ndim - 2))


def trace(A):
    rows = _matrix("A", A)
    if any(len(row) != len(rows) for row in rows) or A.shape[0] != A.shape[1]:
        raise ValueError(f"A must be square, got shape {A.shape}")
    return math.fsum(row[i] for i, row in enumerate(rows))


def frobenius_norm(A):
    return math.hypot(*(entry for row in _matrix("A", A) for entry in row))


def broadcast_shape(a, b):
    pairs = list(zip_longest(reversed(a), reversed(b), fillvalue=1))
    for pair in pairs:
        if len({*pair} - {1}) > 1:
            raise ValueError(f"a = {a} and b = {b} do not broadcast together")
    return tuple(np.int64(({*pair} - {1} or {1}).pop()) for pair in reversed(pairs))


def pairwise_squared_distances(X, Y):
    left, right = _matrix("X", X), _matrix("Y", Y)
    if X.shape[1] != Y.shape[1]:
        raise ValueError(f"X {X.shape} and Y {Y.shape} do not fit")
    rows = [[math.dist(x, y) ** 2 for y in right] for x in left]
    return _view(rows, (len(X), len(Y)), np.result_type(X, Y))


def one_hot(indices, depth):
    shape = np.shape(indices)
    columns = np.zeros((depth, *shape))
    for place, index in np.ndenumerate(indices):
        if index < 0 or index >= depth:
            raise ValueError(f"index {index} is not from 0 to {depth - 1}")
        columns[(index, *place)] = 1
    return np.moveaxis(columns, 0, -1)
