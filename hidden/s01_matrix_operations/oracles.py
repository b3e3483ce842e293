"""Slow answers from the definitions, in Python loops, and how much rounding a sum may suffer."""

import math

import numpy as np


def rounding_terms(terms):
    """The `terms` for assert_array of a single sum: its length, and more where large terms cancel."""
    terms = [float(term) for term in terms]
    total, absolute = abs(math.fsum(terms)), math.fsum(map(abs, terms))
    return len(terms) if total == 0.0 else math.ceil(len(terms) * absolute / total)


def dot(v, w):
    return math.fsum(float(x) * float(y) for x, y in zip(v, w, strict=True))


def cosine(v, w):
    return dot(v, w) / (math.hypot(*map(float, v)) * math.hypot(*map(float, w)))


def outer(v, w):
    return np.array([[x * y for y in w] for x in v])


def matrix_product(A, B):
    (m, k), n = A.shape, B.shape[1]
    result = np.zeros((m, n), dtype=np.result_type(A, B))
    for i in range(m):
        for j in range(n):
            result[i, j] = math.fsum(float(A[i, inner]) * float(B[inner, j]) for inner in range(k))
    return result


def stacked_product(A, B, leading):
    """The products of two stacks whose leading axes broadcast to the shape `leading`."""
    result = np.zeros((*leading, A.shape[-2], B.shape[-1]), dtype=np.result_type(A, B))
    for place in np.ndindex(*leading):
        result[place] = matrix_product(A[_source(place, A)], B[_source(place, B)])
    return result


def _source(place, stack):
    """Where the broadcast place of a stack comes from: axes of size 1 stand still, missing ones are left out."""
    leading = stack.shape[:-2]
    own = place[len(place) - len(leading) :]
    return tuple(0 if size == 1 else index for index, size in zip(own, leading, strict=True))


def swapped(A):
    *leading, m, n = A.shape
    result = np.zeros((*leading, n, m), dtype=A.dtype)
    for *place, i, j in np.ndindex(*A.shape):
        result[(*place, j, i)] = A[(*place, i, j)]
    return result


def squared_distances(X, Y):
    result = np.zeros((len(X), len(Y)), dtype=np.result_type(X, Y))
    for i, x in enumerate(X):
        for j, y in enumerate(Y):
            result[i, j] = math.fsum((float(a) - float(b)) ** 2 for a, b in zip(x, y, strict=True))
    return result


def hot_rows(indices, depth):
    result = np.zeros((*indices.shape, depth))
    for place in np.ndindex(*indices.shape):
        result[place][int(indices[place])] = 1.0
    return result


def compatible_shapes(rng, rank, other_rank):
    """Two random shapes that broadcast, and what they broadcast to (sizes 2 to 5, with ones strewn in)."""
    longest = max(rank, other_rank)
    together = [int(size) for size in rng.integers(2, 6, longest)]
    owner = rng.integers(0, 3, longest)  # 0: only a stretches, 1: only b does, 2: neither
    a = [1 if who == 0 else size for who, size in zip(owner, together, strict=True)][longest - rank :]
    b = [1 if who == 1 else size for who, size in zip(owner, together, strict=True)][longest - other_rank :]
    padded = zip([1] * (longest - rank) + a, [1] * (longest - other_rank) + b, strict=True)
    return tuple(a), tuple(b), tuple(n if m == 1 else m for m, n in padded)
