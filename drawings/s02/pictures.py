"""What the exploration of stage 2 draws of what its steps found."""

from __future__ import annotations

import numpy as np

from drawings.rightness import LEAST, caption, floor_told, floored, titled
from drawings.s02.steps import CROSS, HEIGHTS, RANKS, SMALL, TIMES, A, after, not_largest
from grader.explore.model import Array, Chart, Curves, Drawing, Image, Images, Known, Limits, Series, numbers, rows


def drawings(known: Known) -> tuple[Drawing, ...]:
    """Return elimination column by column, errors of pivots and of orthogonality, the line, and the rest."""
    parts = (_elimination, _pivots, _orthogonality, _line, _dominant, _near)
    return tuple(drawing for part in parts for drawing in part(known))


def _elimination(known: Known) -> tuple[Drawing, ...]:
    """Return A, its rows in the order of P, and what the factors leave after each column."""
    if "U" not in known:
        return ()
    P, lower, upper, wrong = known["P"], known["L"], known["U"], known["lu-wrong"] or not_largest(known["L"])
    tables = [after(P, lower, upper, columns) for columns in range(3)]
    order = [int(row) for row in P.argmax(axis=1)]
    names = tuple(f"row {row}" for row in order)
    panels = [Image("A", rows(A), ("row 0", "row 1", "row 2"))]
    disordered = tuple(text for text in wrong if text.startswith("P ")) or not_largest(lower)
    for number, table in enumerate(tables):
        title = titled(f"column {number - 1} cleared", wrong) if number else titled("P A", disordered)
        panels.append(Image(title, rows(table + 0.0), names))
    first, second, third = (f"{value + 0.0:g}" for value in (lower[1, 0], lower[2, 0], lower[2, 1]))
    said = caption(
        f"Row {order[0]} of A comes to the top, for its {A[order[0], 0]:g} is the largest of column 0. "
        f"By L, {first} and {second} times it are taken off the rows below; "
        f"then {third} times row {order[1]} off row {order[2]}. "
        "What is left is U.",
        wrong,
    )
    most = float(max(np.abs(A).max(), *(np.abs(table).max() for table in tables)))
    return (Images("elimination", "Elimination", said, "column", "row of A", tuple(panels), -most, most, signed=True),)


def _pivots(known: Known) -> tuple[Drawing, ...]:
    if "pivots" not in known:
        return ()
    wrong = known["pivots-wrong"]
    said = "However small the number in the corner is, with the larger pivot the error stays that of rounding."
    said += floor_told(known["pivots"])
    series = Series("error", numbers(SMALL[::-1]), numbers(floored(known["pivots"])[::-1]))
    chart = (Chart(titled("pivot x + y = 1, x + y = 2", wrong), (series,), _up(known["pivots"])),)
    names = "number in the corner", "error of x"
    return (Curves("pivots", "What a small pivot costs", caption(said, wrong), *names, chart, log_x=True, log_y=True),)


def _orthogonality(known: Known) -> tuple[Drawing, ...]:
    if "orthogonality" not in known:
        return ()
    losses, wrong = known["orthogonality"], known["orthogonality-wrong"]
    x = numbers(np.arange(1.0, len(losses) + 1))
    said = "The more columns, the nearer they are to being dependent; Q stays orthonormal to rounding."
    said += floor_told(losses)
    chart = (Chart(titled("largest entry of |QᵀQ − I|", wrong), (_series("loss", x, losses),), _up(losses)),)
    return (Curves("orthogonality", "Columns of a Hilbert matrix", caption(said, wrong), "columns", "error", chart,
                   log_y=True),)  # fmt: skip


def _up(errors: Array) -> Limits:
    """Return whole powers of ten, from below what is drawn of nothing to 1, or beyond what is drawn."""
    return np.log10(LEAST) - 2, max(0.0, float(np.ceil(np.log10(floored(errors)).max())))


def _series(name: str, x: tuple[float, ...], values: Array) -> Series:
    return Series(name, x, numbers(floored(values)))


def _line(known: Known) -> tuple[Drawing, ...]:
    if "line" not in known:
        return ()
    (begin, slope), wrong = known["line"], known["line-wrong"]
    ends = np.array([-0.5, 2.5])
    shown = np.concatenate([begin + slope * ends, HEIGHTS, [-1.0, 7.0]])
    series = (
        Series(titled("line", wrong), numbers(ends), numbers(begin + slope * ends)),
        Series("points", numbers(TIMES), numbers(HEIGHTS), dots=True),
    )
    said = caption("The line runs above one point as far as below the two others together.", wrong)
    return (
        Curves(
            "line",
            "The line of least squares",
            said,
            "t",
            "b",
            (Chart("a + b t", series, (float(np.floor(shown.min())), float(np.ceil(shown.max())))),),
        ),
    )


def _dominant(known: Known) -> tuple[Drawing, ...]:
    if "values" not in known:
        return ()
    errors, wrong = np.abs(known["values"] - 3), known["values-wrong"]
    x = numbers(np.arange(1.0, len(errors) + 1))
    said = f"Each step takes the error of the eigenvalue to about a ninth.{floor_told(errors)}"
    chart = (Chart(titled("|q − 3|", wrong), (_series("error", x, errors),), _up(errors)),)
    return (Curves("dominant", "Power iteration", caption(said, wrong), "steps", "error", chart, log_y=True),)


def _near(known: Known) -> tuple[Drawing, ...]:
    if "near" not in known:
        return ()
    panels = [Image("picture", rows(CROSS))]
    for rank, near, wrong in zip(RANKS, known["near"], known["near-wrong"], strict=True):
        panels.append(Image(titled(f"rank {rank}", wrong), rows(near.round(9))))
    said = caption(
        "Each further rank brings what is most lacking; rank 3 is all of this picture.", *known["near-wrong"]
    )
    high = float(CROSS.max())
    return (Images("near", "Closest pictures of low rank", said, "pixels", "pixels", tuple(panels), 0.0, high),)
