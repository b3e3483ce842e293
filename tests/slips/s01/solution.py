"""Matrix operations, as a student wrote them from the lesson."""

import numpy as np


def check_vector(name, v):
    if np.ndim(v) != 1:
        raise ValueError(f"{name} has shape {np.shape(v)}, expected a vector of shape (n,)")


def check_matrix(name, A):
    if np.ndim(A) != 2:
        raise ValueError(f"{name} has shape {np.shape(A)}, expected a matrix of shape (m, n)")


def dot_product(v, w):
    check_vector("v", v)
    check_vector("w", w)
    if len(v) != len(w):
        raise ValueError(f"v has {len(v)} entries and w has {len(w)}, expected the same length")
    return np.sum(v * w)


def outer_product(v, w):
    check_vector("v", v)
    check_vector("w", w)
    return v[:, np.newaxis] * w[np.newaxis, :]


def vector_norm(v, p=2):
    check_vector("v", v)
    sizes = np.abs(v)
    if p == 1:
        return np.sum(sizes)
    if p == 2:
        return np.sqrt(np.sum(sizes**2))
    if p == np.inf:
        return np.max(sizes) if len(v) > 0 else 0.0
    raise ValueError(f"p is {p}, expected 1, 2 or np.inf")


def cosine_similarity(v, w):
    if np.shape(v) != np.shape(w):
        raise ValueError(f"v has shape {np.shape(v)} and w has shape {np.shape(w)}, expected the same length")
    norm_v = vector_norm(v)
    norm_w = vector_norm(w)
    if norm_v == 0 or norm_w == 0:
        return 0.0
    return dot_product(v / norm_v, w / norm_w)


def matmul(A, B):
    check_matrix("A", A)
    check_matrix("B", B)
    m, k = A.shape
    rows_of_B, n = B.shape
    if k != rows_of_B:
        raise ValueError(f"A has {k} columns and B has {rows_of_B} rows, expected the same number")
    C = np.zeros((m, n), dtype=np.result_type(A, B))
    for i in range(m):
        for j in range(n):
            C[i, j] = np.sum(A[i, :] * B[:, j])
    return C


def batched_matmul(A, B):
    if A.ndim < 2 or B.ndim < 2:
        raise ValueError(f"A has shape {A.shape} and B has shape {B.shape}, expected at least two axes each")
    if A.shape[-1] != B.shape[-2]:
        raise ValueError(f"A has {A.shape[-1]} columns and B has {B.shape[-2]} rows, expected the same number")
    stack = (np.zeros(A.shape[:-2]) + np.zeros(B.shape[:-2])).shape  # raises where they do not broadcast
    C = np.zeros((*stack, A.shape[-2], B.shape[-1]), dtype=np.result_type(A, B))
    for k in range(A.shape[-1]):
        C += A[..., :, k, np.newaxis] * B[..., k, np.newaxis, :]
    return C


def swap_last_axes(A):
    if A.ndim < 2:
        raise ValueError(f"A has shape {A.shape}, expected at least two axes")
    return np.swapaxes(A, -1, -2)


def trace(A):
    check_matrix("A", A)
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"A has shape {A.shape}, expected a square matrix")
    i = np.arange(len(A))
    return np.sum(A[i, i])


def frobenius_norm(A):
    check_matrix("A", A)
    return np.sqrt(np.sum(A**2))


def broadcast_shape(a, b):
    length = max(len(a), len(b))
    padded_a = (1,) * (length - len(a)) + tuple(a)
    padded_b = (1,) * (length - len(b)) + tuple(b)
    shape = []
    for m, n in zip(padded_a, padded_b):
        if m == n:
            shape.append(m)
        elif m == 1:
            shape.append(n)
        elif n == 1:
            shape.append(m)
        else:
            raise ValueError(f"a is {a} and b is {b}: {m} and {n} do not go together")
    return tuple(shape)


def pairwise_squared_distances(X, Y):
    check_matrix("X", X)
    check_matrix("Y", Y)
    if X.shape[1] != Y.shape[1]:
        raise ValueError(f"X has {X.shape[1]} features and Y has {Y.shape[1]}, expected the same number")
    squares_X = np.sum(X**2, axis=1)
    squares_Y = np.sum(Y**2, axis=1)
    products = matmul(X, swap_last_axes(Y))
    distances = squares_X[:, np.newaxis] + squares_Y[np.newaxis, :] - 2 * products
    return np.maximum(distances, 0)


def one_hot(indices, depth):
    indices = np.asarray(indices)
    if np.any(indices < 0):
        raise ValueError(f"indices holds {indices.min()}, expected 0 or more")
    if np.any(indices >= depth):
        raise ValueError(f"indices holds {indices.max()}, expected less than depth, {depth}")
    rows = np.zeros((indices.size, depth))
    rows[np.arange(indices.size), indices.reshape(-1).astype(int)] = 1.0
    return rows.reshape(*indices.shape, depth)
