"""Every sum written as a Python loop over single entries."""

import math

import numpy as np


def dot_product(v, w):
    if v.ndim != 1 or w.ndim != 1 or v.shape[0] != w.shape[0]:
        raise ValueError(f"v and w must be vectors of one length, got shapes {v.shape} and {w.shape}")
    total = 0.0
    for i in range(v.shape[0]):
        total += v[i] * w[i]
    return total


def outer_product(v, w):
    if v.ndim != 1 or w.ndim != 1:
        raise ValueError(f"v and w must be vectors, got shapes {v.shape} and {w.shape}")
    table = np.empty((len(v), len(w)), dtype=np.result_type(v, w))
    for i in range(len(v)):
        for j in range(len(w)):
            table[i, j] = v[i] * w[j]
    return table


def vector_norm(v, p=2):
    if v.ndim != 1:
        raise ValueError(f"v must be a vector, got shape {v.shape}")
    if p not in (1, 2, math.inf):
        raise ValueError(f"p must be 1, 2 or infinity, got {p}")
    result = 0.0
    for entry in v:
        size = abs(entry)
        if p == 1:
            result += size
        elif p == 2:
            result += size * size
        elif size > result:
            result = size
    return math.sqrt(result) if p == 2 else result


def cosine_similarity(v, w):
    product = dot_product(v, w)
    for u in (v, w):
        length = vector_norm(u)
        if length == 0:
            return 0.0
        product = product / length
    return product


def matmul(A, B):
    if A.ndim != 2 or B.ndim != 2:
        raise ValueError(f"A and B must be matrices, got shapes {A.shape} and {B.shape}")
    m, k = A.shape
    if B.shape[0] != k:
        raise ValueError(f"B must have {k} rows, got {B.shape[0]}")
    result = np.zeros((m, B.shape[1]), dtype=np.result_type(A, B))
    for i in range(m):
        for j in range(B.shape[1]):
            for inner in range(k):
                result[i, j] += A[i, inner] * B[inner, j]
    return result


def batched_matmul(A, B):
    if A.ndim < 2 or B.ndim < 2:
        raise ValueError(f"A and B must have two axes or more, got shapes {A.shape} and {B.shape}")
    leading = broadcast_shape(A.shape[:-2], B.shape[:-2])
    left = np.broadcast_to(A, leading + A.shape[-2:])
    right = np.broadcast_to(B, leading + B.shape[-2:])
    result = np.zeros((*leading, A.shape[-2], B.shape[-1]), dtype=np.result_type(A, B))
    if A.shape[-1] != B.shape[-2]:
        raise ValueError(f"B must have {A.shape[-1]} rows, got {B.shape[-2]}")
    for place in np.ndindex(*leading):
        result[place] = matmul(left[place], right[place])
    return result


def swap_last_axes(A):
    if A.ndim < 2:
        raise ValueError(f"A must have two axes or more, got shape {A.shape}")
    *leading, m, n = A.shape
    result = np.empty((*leading, n, m), dtype=A.dtype)
    for i in range(m):
        result[..., :, i] = A[..., i, :]
    return result


def trace(A):
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"A must be a square matrix, got shape {A.shape}")
    total = 0.0
    for i in range(A.shape[0]):
        total += A[i, i]
    return total


def frobenius_norm(A):
    if A.ndim != 2:
        raise ValueError(f"A must be a matrix, got shape {A.shape}")
    total = 0.0
    for row in A:
        for entry in row:
            total += entry * entry
    return math.sqrt(total)


def broadcast_shape(a, b):
    result = []
    for back in range(1, max(len(a), len(b)) + 1):
        m = a[-back] if back <= len(a) else 1
        n = b[-back] if back <= len(b) else 1
        if m != n and m != 1 and n != 1:
            raise ValueError(f"sizes {m} and {n} do not go together in {a} and {b}")
        result.append(n if m == 1 else m)
    result.reverse()
    return tuple(result)


def pairwise_squared_distances(X, Y):
    if X.ndim != 2 or Y.ndim != 2 or X.shape[1] != Y.shape[1]:
        raise ValueError(f"X and Y must be matrices with as many columns each, got {X.shape} and {Y.shape}")
    result = np.zeros((len(X), len(Y)), dtype=np.result_type(X, Y))
    for i, x in enumerate(X):
        for j, y in enumerate(Y):
            for a, b in zip(x, y, strict=True):
                result[i, j] += (a - b) ** 2
    return result


def one_hot(indices, depth):
    indices = np.array(indices, dtype=np.int64)
    result = np.zeros((*indices.shape, depth))
    for place in np.ndindex(*indices.shape):
        index = int(indices[place])
        if not 0 <= index < depth:
            raise ValueError(f"index {index} is not from 0 to {depth - 1}")
        result[(*place, index)] = 1.0
    return result
