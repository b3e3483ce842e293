"""Stage 2: elimination column by column, what a small pivot costs, orthonormal columns, a line."""

from __future__ import annotations

from typing import Any

import numpy as np

from drawings.rightness import Wrong, differing, power
from grader.explore.model import Array, Call, Fact, Known, Reading, Run, Step
from grader.explore.values import array, bounded, number, scalar, several, told

A = np.array([[1.0, 2.0, 0.0], [4.0, 4.0, 4.0], [2.0, 0.0, 5.0]])
b = np.array([5.0, 24.0, 17.0])
L = np.array([[2.0, 0.0], [1.0, 4.0]])
U = np.array([[4.0, 4.0, 4.0], [0.0, -2.0, 3.0], [0.0, 0.0, 0.5]])
SMALL = 10.0 ** -np.arange(2.0, 21.0)  # pivots, from the largest
TINY = np.array([[1e-20, 1.0], [1.0, 1.0]])
TIMES, HEIGHTS = np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0, 6.0])
S = np.array([[2.0, 1.0], [1.0, 2.0]])  # eigenvalues 3 and 1
ROUNDS = 9
HILBERT: Array = np.array([[1.0 / (i + j + 1) for j in range(8)] for i in range(10)])
LOST = 1e-10  # an error of this size is more than rounding, for what is asked here
CROSS = np.array([[min(i, j, 7 - i, 7 - j) + (2.0 if i in (3, 4) else 0.0) for j in range(8)] for i in range(8)])
RANKS = (1, 2, 3)
GIVEN = "A = [[1, 2, 0], [4, 4, 4], [2, 0, 5]] and b = [5, 24, 17], other small matrices, a line through three points"


def start(example: None, seed: int) -> Known:
    """Return what the steps begin with: nothing, since their matrices are always the same."""
    return {}


def _vector(name: str, call: tuple[Array, Array], right: tuple[float, ...]) -> Run:
    """Return a run of a function that solves a system."""

    def run(learner: Any, known: Known) -> Reading:
        found = bounded(array(getattr(learner, name)(*call), (len(right),), ("n",)))
        return Reading({}, found.shape, ("n",), (told("x", found),), differing(found, np.array(right), "x"))

    return run


def after(P: Array, lower: Array, upper: Array, columns: int) -> Array:
    """Return what is left of A once so many columns are cleared, of the factors that were found.

    The rows stand in the order of P; from row i those multiples of the rows above it are taken off that L names.
    """
    found: Array = P @ A - np.tril(lower, -1)[:, :columns] @ upper[:columns]
    return found


def _elimination(learner: Any, known: Known) -> Reading:
    returned = several(learner.lu_decomposition(A), ("P", "L", "U"))
    P, lower, upper = (bounded(array(each, (3, 3), name=name)) for each, name in zip(returned, "PLU", strict=True))
    wrong = _not_factors(P, lower, upper)
    facts = tuple(
        told(name, each.ravel()) for name, each in (("U row 0", upper[0]), ("row 1", upper[1]), ("row 2", upper[2]))
    )
    values = {"P": P, "L": lower, "U": upper, "lu-wrong": wrong}
    return Reading(values, (3, 3), ("n", "n"), facts, wrong)


def not_largest(lower: Array) -> Wrong:
    """Return why the pivots were not the largest of their columns, if they were not."""
    most = float(np.abs(lower).max())
    if most <= 1 + LOST:
        return ()
    return (f"a factor of {number(most)} stands in L: a pivot is not the largest of its column",)


def _largest(learner: Any, known: Known) -> Reading:
    returned = several(learner.lu_decomposition(TINY), ("P", "L", "U"))
    lower, upper = (
        bounded(array(each, (2, 2), name=name), most=1e30) for each, name in zip(returned[1:], "LU", strict=True)
    )
    wrong = not_largest(known["L"]) or not_largest(lower) or differing(upper, np.array([[1.0, 1.0], [0.0, 1.0]]), "U")
    return Reading({}, (2, 2), ("n", "n"), (told("largest factor", [float(np.abs(lower).max())]),), wrong)


def _not_factors(P: Array, lower: Array, upper: Array) -> Wrong:
    """Return why three matrices are no decomposition of A, if they are none."""
    if not (np.isin(P, (0, 1)).all() and (P.sum(axis=0) == 1).all() and (P.sum(axis=1) == 1).all()):
        return ("P should hold a single 1 in each row and column, and 0 else",)
    if np.abs(np.triu(lower, 1)).max() > LOST or np.abs(np.diagonal(lower) - 1).max() > LOST:
        return ("L should have 1 on its diagonal and 0 above it",)
    for column in range(3):
        left = np.abs(np.tril(after(P, lower, upper, column + 1), -1)[:, column])
        if left.max() > LOST:
            row = int(left.argmax())
            value = number(float(after(P, lower, upper, column + 1)[row, column]))
            return (f"the factors of L do not clear column {column}: {value} is left in row {row} of P A",)
    if np.abs(np.tril(upper, -1)).max() > LOST:
        return ("U should be 0 below its diagonal",)
    return differing(lower @ upper, P @ A, "L U")


def exact(pivot: float) -> Array:
    """Return the solution of pivot x + y = 1, x + y = 2."""
    return np.array([1 / (1 - pivot), (1 - 2 * pivot) / (1 - pivot)])


def _pivots(learner: Any, known: Known) -> Reading:
    errors = np.empty(len(SMALL))
    for place, pivot in enumerate(SMALL):
        matrix, right = np.array([[pivot, 1.0], [1.0, 1.0]]), np.array([1.0, 2.0])
        found = bounded(array(learner.solve(matrix, right), (2,), name=f"pivot {power(pivot)}"))
        errors[place] = np.abs(found - exact(float(pivot))).max()
    wrong: Wrong = ()
    if errors.max() > LOST:
        worst = int(np.argmax(errors > LOST))
        wrong = (f"with {power(SMALL[worst])} in the corner x is off by {power(errors[worst])}",)
    fact = Fact("largest error", (float(errors.max()),), f"largest error {power(errors.max())}")
    return Reading({"pivots": errors, "pivots-wrong": wrong}, None, (), (fact,), wrong)


def _determinant(learner: Any, known: Known) -> Reading:
    found = np.array([scalar(learner.determinant(each)) for each in (A, A[[1, 0, 2]])])
    wrong = differing(found, np.array([-4.0, 4.0]), "determinants of A, and of A with rows 0 and 1 swapped")
    return Reading({}, None, (), (told("determinant", found[:1]), told("two rows swapped", found[1:])), wrong)


def _inverse(learner: Any, known: Known) -> Reading:
    found = bounded(array(learner.inverse(A), (3, 3), ("n", "n")))
    return Reading({}, (3, 3), ("n", "n"), (), differing(A @ found, np.eye(3), "A times the inverse"))


def _factors(learner: Any, H: Array, name: str) -> tuple[Array, Wrong]:
    """Return Q, and why Q and R are no decomposition of H, if they are none; orthogonality apart."""
    returned = several(learner.qr_decomposition(H), ("Q", "R"))
    columns = H.shape[1]
    Q = bounded(array(returned[0], H.shape, ("m", "n"), name=f"Q of {name}"))
    R = bounded(array(returned[1], (columns, columns), ("n", "n"), name=f"R of {name}"))
    if np.abs(np.tril(R, -1)).max() > LOST:
        return Q, (f"R of {name} should be 0 below its diagonal",)
    return Q, differing(Q @ R, H, f"Q R of {name}")


def off_orthonormal(Q: Array) -> float:
    """Return the largest entry of |QᵀQ − I|."""
    return float(np.abs(Q.T @ Q - np.eye(Q.shape[1])).max())


def _orthonormal(learner: Any, known: Known) -> Reading:
    Q, wrong = _factors(learner, np.array([[3.0, 1.0], [4.0, 3.0]]), "[[3, 1], [4, 3]]")
    if not wrong and off_orthonormal(Q) > LOST:
        wrong = ("columns of Q should have length 1 and be perpendicular: QᵀQ is not I",)
    return Reading({}, Q.shape, ("m", "n"), (told("Q, but for signs", np.abs(Q).ravel()),), wrong)


def _stable(learner: Any, known: Known) -> Reading:
    losses = []
    wrong: Wrong = ()
    for columns in range(1, HILBERT.shape[1] + 1):
        Q, found = _factors(learner, HILBERT[:, :columns], f"{columns} columns")
        losses.append(off_orthonormal(Q))
        wrong = wrong or found
    if not wrong and max(losses) > LOST:
        first = next(place for place, loss in enumerate(losses, start=1) if loss > LOST)
        wrong = (f"with {first} columns QᵀQ is off from I by {power(losses[first - 1])}: orthogonality is lost",)
    fact = Fact("loss", (losses[0], losses[-1]), f"|QᵀQ − I| at most {power(max(losses))}")
    return Reading({"orthogonality": np.array(losses), "orthogonality-wrong": wrong}, None, (), (fact,), wrong)


def _line(learner: Any, known: Known) -> Reading:
    T = np.stack([np.ones(3), TIMES], axis=1)
    found = bounded(array(learner.least_squares(T, HEIGHTS), (2,), ("n",)))
    wrong = differing(found, np.array([0.5, 2.5]), "start and slope of the line")
    facts = (told("start, slope", found), told("residuals", T @ found - HEIGHTS))
    return Reading({"line": found, "line-wrong": wrong}, (2,), ("n",), facts, wrong)


def _dominant(learner: Any, known: Known) -> Reading:
    """Stop after 1, 2, 3 … steps, each time from the same start."""
    values, vectors = [], []
    for steps in range(1, ROUNDS + 1):
        returned = several(
            learner.power_iteration(S, num_iterations=steps, tolerance=0.0, rng=np.random.default_rng(1)),
            ("eigenvalue", "eigenvector"),
        )
        values.append(scalar(returned[0], "eigenvalue"))
        vectors.append(bounded(array(returned[1], (2,), name="eigenvector")))
    lengths = np.linalg.norm(vectors, axis=1)
    wrong: Wrong = ()
    if np.abs(lengths - 1).max() > LOST:
        wrong = (f"the vector should have length 1, after {1 + int(np.abs(lengths - 1).argmax())} steps it has not",)
    elif abs(values[-1] - 3) > 1e-6:
        wrong = (f"after {ROUNDS} steps the eigenvalue should be near 3, it is {number(values[-1])}",)
    facts = (told("eigenvalue", values[-1:]), told("vector", np.abs(vectors[-1])))
    return Reading({"values": np.array(values), "values-wrong": wrong}, None, (), facts, wrong)


def _low_rank(learner: Any, known: Known) -> Reading:
    near, off, facts = [], [], []
    left, sizes, right = np.linalg.svd(CROSS)
    for rank in RANKS:
        found = bounded(
            array(learner.low_rank_approximation(CROSS, rank), CROSS.shape, ("m", "n"), name=f"rank {rank}")
        )
        near.append(found)
        facts.append(told(f"rank {rank} off by", [float(np.linalg.norm(CROSS - found))]))
        off.append(differing(found, left[:, :rank] * sizes[:rank] @ right[:rank], f"rank {rank}"))
    wrong = tuple(text for each in off for text in each)
    return Reading({"near": np.stack(near), "near-wrong": tuple(off)}, CROSS.shape, ("m", "n"), tuple(facts), wrong)


FORWARD, BACKWARD = "forward_substitution", "backward_substitution"
STEPS = (
    Step("triangles", "Triangular systems", "One unknown after the other, each from those that are known by then.", (
        Call("forward", f"{FORWARD}([[2, 0], [1, 4]], [6, 11])", FORWARD, (),
             _vector(FORWARD, (L, np.array([6.0, 11.0])), (3.0, 2.0))),
        Call("backward", f"{BACKWARD}([[4, 4, 4], [0, -2, 3], [0, 0, 0.5]], [24, 5, 1.5])", BACKWARD, (),
             _vector(BACKWARD, (U, np.array([24.0, 5.0, 1.5])), (1.0, 2.0, 3.0))),
    )),
    Step("elimination", "Elimination", "Multiples of one row are taken off the rows below it, column after column.", (
        Call("lu", "lu_decomposition(A)", "lu_decomposition", (), _elimination),
        Call("largest", "lu_decomposition([[1e-20, 1], [1, 1]])", "lu_decomposition", ("L",), _largest,
             criterion="pivoting"),
    )),
    Step("solving", "What L and U are good for", "One elimination serves every right-hand side, and the determinant.", (
        Call("solve", "solve(A, b)", "solve", (), _vector("solve", (A, b), (1.0, 2.0, 3.0))),
        Call("pivots", "solve([[pivot, 1], [1, 1]], [1, 2]) for ever smaller pivots", "solve", (), _pivots),
        Call("determinant", "determinant(A)", "determinant", (), _determinant),
        Call("inverse", "inverse(A)", "inverse", (), _inverse),
    )),
    Step("orthonormal", "Orthonormal columns", "Where columns nearly depend on each other, rounding decides.", (
        Call("qr", "qr_decomposition([[3, 1], [4, 3]])", "qr_decomposition", (), _orthonormal),
        Call("stable", "qr_decomposition(hilbert[:, :n]) for n = 1 … 8", "qr_decomposition", (), _stable,
             criterion="qr-stability"),
    )),
    Step("line", "Least squares", "The residual is as short as can be.", (
        Call("line", "least_squares([[1, 0], [1, 1], [1, 2]], [1, 2, 6])", "least_squares", (), _line),
    )),
    Step("dominant", "The dominant direction", "Multiplied again and again, the strongest direction is left.", (
        Call("power", f"power_iteration([[2, 1], [1, 2]], num_iterations) for 1 … {ROUNDS}", "power_iteration", (),
             _dominant),
    )),
    Step("rank", "Low rank", "The largest singular values hold most of a matrix.", (
        Call("near", "low_rank_approximation(picture, rank) for rank 1, 2, 3", "low_rank_approximation", (), _low_rank),
    )),
)  # fmt: skip
