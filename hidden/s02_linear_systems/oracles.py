"""Exact answers in fractions, whose only rounding is the last one, and matrices of known condition."""

from fractions import Fraction

import numpy as np


def unpack(result, *names):
    """Return the values of a tuple; a failure that names them if it is none or has another length."""
    if not isinstance(result, (tuple, list)) or len(result) != len(names):
        got = f"{len(result)} values" if isinstance(result, (tuple, list)) else f"one {type(result).__name__}"
        raise AssertionError(f"expected the {len(names)} values ({', '.join(names)}), got {got}")
    return result


def orthonormal(rng, m, n):
    """Random orthonormal columns of shape (m, n)."""
    return np.linalg.qr(rng.normal(size=(m, n)))[0]


def with_singular_values(rng, m, n, values):
    """A random matrix of shape (m, n) with the given singular values."""
    return orthonormal(rng, m, len(values)) * np.asarray(values) @ orthonormal(rng, n, len(values)).T


def well_conditioned(rng, m, n=None):
    """A random matrix (square by default) of condition number 4 at most, so that rounding stays rounding."""
    n = m if n is None else n
    return with_singular_values(rng, m, n, rng.uniform(0.5, 2.0, size=min(m, n)))


def triangular(rng, n):
    """Random entries everywhere, the diagonal of either sign and away from 0; half of it is for the triangle."""
    T = rng.uniform(-1.0, 1.0, size=(n, n))
    T[np.diag_indices(n)] = rng.choice([-1.0, 1.0], size=n) * rng.uniform(1.0, 3.0, size=n)
    return T


def dependent_columns(rng, m, n):
    """Integers as floats, shape (m, n): the last column is an exact combination of the others, which are well apart.

    That they are keeps what rounding leaves of the zero pivot well below the limit, by a factor of more than 10.
    """
    while True:
        A = rng.integers(-9, 10, size=(m, n)).astype(np.float64)
        A[:, -1] = A[:, :-1] @ (rng.integers(1, 3, size=n - 1) * rng.choice([-1, 1], size=n - 1))
        others = np.linalg.svd(A[:, :-1], compute_uv=False)
        values = np.linalg.svd(A, compute_uv=False)
        if others[0] < 10 * others[-1] and values[0] < 20 * values[-2]:
            return A


def dependent_but_for_rounding(rng, m, n):
    """float32 of shape (m, n): the last column depends on the others, which are well apart, but for its rounding.

    What is left of the zero pivot is below a twentieth of the limit, with eps of float32, whatever the order of the
    operations; with eps of float64 it is millions of times the limit, except where rounding leaves an exact zero.
    """
    A = well_conditioned(rng, m, n)
    A[:, -1] = A[:, :-1] @ (rng.uniform(0.5, 1.5, size=n - 1) * rng.choice([-1, 1], size=n - 1))
    return A.astype(np.float32)


def _fractions(array):
    return [[Fraction(float(entry)) for entry in row] for row in array]


def _floats(rows):
    return np.array([[float(entry) for entry in row] for row in rows])


def exact_solution(A, b):
    """Solve A x = b by Gauss and Jordan's elimination in fractions."""
    n, columns = len(A), b if b.ndim == 2 else b[:, np.newaxis]
    rows = [left + right for left, right in zip(_fractions(A), _fractions(columns), strict=True)]
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [entry / rows[k][k] for entry in rows[k]]
        for i in range(n):
            if i != k:
                rows[i] = [entry - rows[i][k] * above for entry, above in zip(rows[i], rows[k], strict=True)]
    return _floats([row[n:] for row in rows]).reshape(b.shape)


def exact_lu(A):
    """P, L and U of partial pivoting in fractions, row by row."""
    n, rows = len(A), _fractions(A)
    order, multipliers = list(range(n)), [[Fraction(0)] * n for _ in range(n)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        for each in (rows, order, multipliers):
            each[k], each[pivot] = each[pivot], each[k]
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            multipliers[i][k] = factor
            rows[i] = [entry - factor * above for entry, above in zip(rows[i], rows[k], strict=True)]
    P = [[Fraction(int(column == place)) for column in range(n)] for place in order]
    for k in range(n):
        multipliers[k][k] = Fraction(1)
    return _floats(P), _floats(multipliers), _floats(rows)


def exact_determinant(A):
    """The determinant by expansion along the first row, in fractions."""

    def expand(rows):
        if not rows:
            return Fraction(1)
        minors = ([row[:j] + row[j + 1 :] for row in rows[1:]] for j in range(len(rows)))
        return sum((-1) ** j * rows[0][j] * expand(minor) for j, minor in enumerate(minors))

    return float(expand(_fractions(A)))


def exact_least_squares(A, b):
    """The solution of the normal equations in fractions, where their condition does no harm."""
    rows, columns = _fractions(A), _fractions(b if b.ndim == 2 else b[:, np.newaxis])
    gram = [[_dot(left, right) for right in zip(*rows, strict=True)] for left in zip(*rows, strict=True)]
    moments = [[_dot(left, right) for right in zip(*columns, strict=True)] for left in zip(*rows, strict=True)]
    return _solved(gram, moments).reshape((A.shape[1], *b.shape[1:]))


def _dot(left, right):
    return sum((x * y for x, y in zip(left, right, strict=True)), Fraction(0))


def _solved(gram, moments):
    """Solve a positive definite system of fractions, which needs no pivoting."""
    n = len(gram)
    rows = [left + right for left, right in zip(gram, moments, strict=True)]
    for k in range(n):
        for i in range(n):
            factor = rows[i][k] / rows[k][k]
            if i != k:
                rows[i] = [entry - factor * other for entry, other in zip(rows[i], rows[k], strict=True)]
    return _floats([[entry / rows[i][i] for entry in rows[i][n:]] for i in range(n)])


def same_signs(Q, R):
    """Q and R with the signs chosen so that the diagonal of R is not negative."""
    signs = np.where(np.diagonal(R) < 0, -1.0, 1.0)
    return Q * signs, R * signs[:, np.newaxis]


def polynomial_columns(points, degree):
    """The columns 1, t, t^2, ..., t^degree: nearly dependent for points from a short interval."""
    return np.array([[point**power for power in range(degree + 1)] for point in points.tolist()])


def exact_qr(A):
    """Q and R with a positive diagonal of R, from A^T A in fractions: rounding comes with the roots at the end."""
    rows = _fractions(A)
    n = len(rows[0])
    triangle = [[_dot(left, right) for right in zip(*rows, strict=True)] for left in zip(*rows, strict=True)]
    for k in range(n):
        for i in range(k + 1, n):
            factor = triangle[i][k] / triangle[k][k]
            triangle[i] = [entry - factor * above for entry, above in zip(triangle[i], triangle[k], strict=True)]
    roots = np.sqrt([float(triangle[k][k]) for k in range(n)])
    directions = []
    for row in rows:
        found = []
        for j in range(n):
            found.append((row[j] - sum(found[i] * triangle[i][j] for i in range(j))) / triangle[j][j])
        directions.append(found)
    return _floats(directions) * roots, _floats(triangle) / roots[:, np.newaxis]
