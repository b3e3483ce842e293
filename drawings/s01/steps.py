"""Stage 1: a small product cell by cell and slice by slice, and what the words of the lesson have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from drawings.rightness import Wrong, differing
from grader.explore.example import LESSON
from grader.explore.model import Array, Call, Known, Reading, Run, Step
from grader.explore.values import Unfit, array, bounded, counts, scalar, span, told

A, B = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 6.0], [7.0, 8.0]])
WORDS = tuple(LESSON)
E = np.array(list(LESSON.values()))
NORMS = (1, 2, np.inf)
PICKED = (2, 0)  # sat, The
SHAPES = ((8, 1, 6), (7, 1), (8, 7, 6))
GIVEN = "A = [[1, 2], [3, 4]], B = [[5, 6], [7, 8]]; E: the words The, cat, sat, down, a row of 6 features each"


def start(example: None, seed: int) -> Known:
    """Return what the steps begin with: nothing, since their matrices are always the same."""
    return {}


def _checked(key: str, found: Array, right: Array, name: str, axes: tuple[str, ...] = ()) -> Reading:
    """Return values with what is wrong with them, for the drawings as well."""
    wrong = differing(found, right, name)
    facts = (told("values", found.ravel()) if found.size <= A.size else span(found),)
    return Reading({key: found, f"{key}-wrong": wrong}, found.shape, axes, facts, wrong)


def _number(name: str, right: float, call: Callable[[Any, Known], object]) -> Run:
    """Return a run of one call that gives a number."""

    def run(learner: Any, known: Known) -> Reading:
        found = scalar(call(learner, known))
        return Reading({}, None, (), (told(name, [found]),), differing(np.array(found), np.array(right), name))

    return run


def _slices(learner: Any, known: Known) -> Reading:
    made = [array(learner.outer_product(A[:, i], B[i]), (2, 2), ("row", "column"), name=f"slice {i}") for i in (0, 1)]
    found = bounded(np.stack(made))
    right = np.stack([np.multiply.outer(A[:, i], B[i]) for i in (0, 1)])
    wrong: Wrong = tuple(text for i in (0, 1) for text in differing(found[i], right[i], f"column {i} times row {i}"))
    facts = (told("slice 0", found[0].ravel()), told("slice 1", found[1].ravel()))
    return Reading({"slices": found, "slices-wrong": wrong}, (2, 2), ("rows of A", "columns of B"), facts, wrong)


def _norms(learner: Any, known: Known) -> Reading:
    found = np.array([scalar(learner.vector_norm(E[1], p), f"p={p}") for p in NORMS])
    wrong = differing(found, np.array([2.5, 1.5, 1.0]), "norms for p = 1, 2, inf")
    return Reading({}, None, (), (told("p = 1, 2, inf:", found),), wrong)


def _cosines(learner: Any, known: Known) -> Reading:
    found = np.array([[scalar(learner.cosine_similarity(v, w)) for w in E] for v in E])
    lengths = np.sqrt((E**2).sum(axis=1))
    return _checked("cosines", found, E @ E.T / (lengths[:, None] * lengths), "cosines", ("word", "word"))


def terms(i: int, j: int) -> str:
    """Return cell [i, j] of A B as it is worked out by hand.

    >>> terms(0, 1)
    '1·6 + 2·8 = 22'
    """
    pairs = [f"{a:g}·{b:g}" for a, b in zip(A[i], B[:, j], strict=True)]
    return f"{' + '.join(pairs)} = {float(A[i] @ B[:, j]):g}"


def _cells(learner: Any, known: Known) -> Reading:
    found = np.empty((2, 2))
    wrong: list[str] = []
    for i, j in np.ndindex(2, 2):
        name = f"row {i} times column {j}"
        cell = bounded(array(learner.matmul(A[i : i + 1], B[:, j : j + 1]), (1, 1), ("row", "column"), name=name), name)
        found[i, j] = cell[0, 0]
        if differing(cell, A[i : i + 1] @ B[:, j : j + 1], name):
            wrong.append(f"{name} should be {terms(i, j)}, not {found[i, j]:g}")
    return Reading(
        {"cells": found, "cells-wrong": tuple(wrong)}, None, (), (told("cells", found.ravel()),), tuple(wrong)
    )


def _whole(learner: Any, known: Known) -> Reading:
    found = bounded(array(learner.matmul(A, B), (2, 2), ("rows of A", "columns of B")))
    off = [place for place in np.ndindex(2, 2) if differing(found[place], (A @ B)[place], "")]
    wrong: Wrong = ()
    if off:
        i, j = off[0]
        wrong = (f"cell [{i}, {j}] should be row {i} times column {j}, {terms(i, j)}, not {found[i, j]:g}",)
        if len(off) > 1:
            wrong = (f"{wrong[0]}; {len(off)} of 4 cells are not right",)
    values = {"whole": found, "whole-wrong": wrong}
    return Reading(values, (2, 2), ("rows of A", "columns of B"), (told("values", found.ravel()),), wrong)


def _swapped(learner: Any, known: Known) -> Reading:
    return _checked(
        "swapped", array(learner.swap_last_axes(E), (6, 4), ("feature", "word")), E.T, "E with axes swapped"
    )


def _batched(learner: Any, known: Known) -> Reading:
    stack = np.stack([A, B])
    found = bounded(array(learner.batched_matmul(stack, B), (2, 2, 2), ("stack", "row", "column")))
    return _checked("batched", found, stack @ B, "A B and B B", ("stack", "row", "column"))


def _products(learner: Any, known: Known) -> Reading:
    found = bounded(array(learner.matmul(E, known["swapped"]), (4, 4), ("word", "word")))
    return _checked("products", found, E @ known["swapped"], "products", ("word", "word"))


def _trace(learner: Any, known: Known) -> Reading:
    found = scalar(learner.trace(known["products"]))
    wrong = differing(np.array(found), np.trace(known["products"]), "trace")
    return Reading({}, None, (), (told("trace", [found]),), wrong)


def _broadcast(learner: Any, known: Known) -> Reading:
    found = learner.broadcast_shape(*SHAPES[:2])
    if not isinstance(found, (tuple, list)) or not all(type(size) is int for size in found):
        raise Unfit(f"returned {type(found).__name__} where a tuple of ints was expected")
    wrong = () if tuple(found) == SHAPES[2] else (f"the shape should be {SHAPES[2]}, not {tuple(found)}",)
    return Reading({}, None, (), (counts("shape", found),), wrong)


def _distances(learner: Any, known: Known) -> Reading:
    found = bounded(array(learner.pairwise_squared_distances(E, E), (4, 4), ("word", "word")))
    return _checked("distances", found, ((E[:, None] - E) ** 2).sum(axis=-1), "squared distances", ("word", "word"))


def _hot(learner: Any, known: Known) -> Reading:
    found = array(learner.one_hot(np.array(PICKED), len(E)), (2, 4), ("index", "depth"))
    return _checked("hot", found, np.eye(4)[list(PICKED)], "rows", ("index", "depth"))


def _picked(learner: Any, known: Known) -> Reading:
    found = bounded(array(learner.matmul(known["hot"], E), (2, 6), ("index", "feature")))
    return _checked("picked", found, known["hot"] @ E, "picked rows", ("index", "feature"))


STEPS = (
    Step("pairs", "Sum, or keep the table", "A dot product adds the products up, an outer product keeps them all.", (
        Call("dot", "dot_product(cat, sat)", "dot_product", (),
             _number("cat · sat", 1.0, lambda learner, known: learner.dot_product(E[1], E[2]))),
        Call("slices", "outer_product(A[:, i], B[i]) for i = 0, 1", "outer_product", (), _slices),
    )),
    Step("angles", "Lengths and angles", "A cosine takes the lengths out of a dot product.", (
        Call("norms", "vector_norm(cat, p) for p = 1, 2, inf", "vector_norm", (), _norms),
        Call("cosines", "cosine_similarity(v, w) for each pair of words", "cosine_similarity", (), _cosines),
    )),
    Step("product", "A product, cell by cell", "Each cell takes a whole row and a whole column, and nothing else.", (
        Call("cells", "matmul(A[[i]], B[:, [j]]) for each cell", "matmul", (), _cells),
        Call("whole", "matmul(A, B)", "matmul", (), _whole),
    )),
    Step("stacks", "Stacks", "The last two axes are the matrices; E with them swapped has words as columns.", (
        Call("batched", "batched_matmul([A, B], B)", "batched_matmul", (), _batched),
        Call("swapped", "swap_last_axes(E)", "swap_last_axes", (), _swapped),
        Call("products", "matmul(E, swap_last_axes(E))", "matmul", ("swapped",), _products),
    )),
    Step("sizes", "One number for a matrix", "The trace of E Eᵀ is the square of the length of E.", (
        Call("trace", "trace(matmul(E, swap_last_axes(E)))", "trace", ("products",), _trace),
        Call("length", "frobenius_norm(E)", "frobenius_norm", (),
             _number("length", float(np.sqrt(8.75)), lambda learner, known: learner.frobenius_norm(E))),
    )),
    Step("shapes", "Which shapes fit", "Shapes line up at the right, and every 1 is stretched.", (
        Call("broadcast", "broadcast_shape((8, 1, 6), (7, 1))", "broadcast_shape", (), _broadcast),
    )),
    Step("distances", "Every row with every row", "Squared distances come from the table of products.", (
        Call("distances", "pairwise_squared_distances(E, E)", "pairwise_squared_distances", (), _distances),
    )),
    Step("rows", "A single one", "A row with a single one picks a row of a table.", (
        Call("hot", "one_hot([2, 0], 4)", "one_hot", (), _hot),
        Call("picked", "matmul(one_hot([2, 0], 4), E)", "matmul", ("hot",), _picked),
    )),
)  # fmt: skip
