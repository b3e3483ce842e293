"""Pictures of stages s01 to s04: products, lines, derivatives and chance."""

from __future__ import annotations

import numpy as np

from illustrations.canvas import Canvas
from illustrations.plots import Axis, Frame, Table, ticks
from illustrations.references import reference

WORDS = ("The", "cat", "sat", "down")


def product() -> Canvas:
    """E times its transpose: one row and one column make one entry."""
    s01 = reference("s01")
    E = np.array([[1, 0.5, 0, 0.5, 0, 0], [0, 1, 1, 0, 0.5, 0], [0, 0, 0.5, 1, 1, 0.5], [0.5, 0, 0, 0.5, 1, 1]])
    canvas = Canvas(284, "A matrix product is a table of dot products")
    left = Table(canvas, 50, 90, 32, E, "g", title="E (4, 6)", rows=WORDS)
    right = Table(canvas, 300, 58, 32, E.T, "g", title="Eᵀ (6, 4)", columns=WORDS)
    result = Table(canvas, 510, 90, 44, s01.matmul(E, E.T), ".2f", title="E Eᵀ (4, 4)", rows=WORDS, columns=WORDS)
    canvas.text(268, 159, "×", size=18)
    canvas.text(450, 159, "=", size=18)
    left.mark(2, 0, 1, 6)
    right.mark(0, 3, 6, 1)
    result.mark(2, 3)
    return canvas


def least_squares() -> Canvas:
    """The line through three points whose residuals have the smallest sum of squares."""
    t, y = np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0, 6.0])
    start, slope = reference("s02").least_squares(np.column_stack([np.ones(3), t]), y)
    canvas = Canvas(290, "The line of least squares and its residuals")
    frame = Frame(canvas, 60, 34, 380, 204, Axis(-0.4, 2.4, ticks(0, 1, 2), "t"), Axis(-1, 7, ticks(0, 2, 4, 6), "b"))
    ends = np.array([-0.4, 2.4])
    frame.curve(ends, start + slope * ends)
    for time, value in zip(t, y, strict=True):
        line = float(start + slope * time)
        frame.curve([time, time], [value, line], "b", 2.5, "5 3")
        side, anchor = (0.06, "start") if line > value else (-0.06, "end")
        frame.label(time + side, (value + line) / 2 - 0.1, f"{line - value:+.1f}".replace("-", "−"), "b", anchor)
    frame.points(t, y, "t", 5)
    canvas.text(470, 90, f"line: {start:.1f} + {slope:.1f} t", "a", anchor="start")
    canvas.text(470, 116, "dashed: residuals A x − b", "b", anchor="start")
    canvas.text(470, 142, "0.25 + 1 + 0.25 = 1.5", anchor="start")
    canvas.text(470, 162, "no other line has a smaller", "m", anchor="start")
    canvas.text(470, 180, "sum of squares", "m", anchor="start")
    return canvas


def step_size() -> Canvas:
    """The error of finite differences falls with the step, then rises: rounding takes over.

    x³ at 0.7 takes only products, which every machine rounds alike.
    """
    s03 = reference("s03")
    steps = 10.0 ** np.arange(-12, 0.01, 0.25)
    canvas = Canvas(310, "Error of a finite difference against its step")
    labels = [(10.0**power, f"1e−{-power}") for power in range(-12, 0)] + [(1.0, "1")]
    across = Axis(1e-12, 1, labels[::2], "h", log=True)
    frame = Frame(canvas, 74, 34, 440, 224, across, Axis(1e-12, 10, labels[::3], "error", log=True))
    for ink, method, dash in (("b", "forward", "6 4"), ("a", "central", "")):
        found = [s03.finite_difference(lambda x: x * x * x, 0.7, h=float(h), method=method) for h in steps]
        frame.curve(steps, np.maximum(np.abs(np.array(found) - 3 * 0.49), 1e-12), ink, dash=dash)
    frame.label(10**-4.6, 10**-2.9, "forward: order h", "b", "end")
    frame.label(10**-2.9, 10**-8.2, "central: order h²", "a")
    canvas.text(530, 60, "slope of x³ at 0.7", anchor="start", bold=True)
    for row, (what, why) in enumerate(
        (
            ("too small a step:", "rounding, divided by h"),
            ("too large a step:", "the curve bends away"),
            ("the default of s03:", "central, h = 1e−5"),
        )
    ):
        canvas.text(530, 98 + 54 * row, what, anchor="start")
        canvas.text(530, 116 + 54 * row, why, "m", anchor="start")
    return canvas


def bells() -> Canvas:
    """Normal densities: the mean shifts, the deviation widens."""
    s04 = reference("s04")
    canvas = Canvas(270, "Normal densities")
    frame = Frame(
        canvas,
        60,
        34,
        460,
        190,
        Axis(-5, 7, ticks(-4, -2, 0, 2, 4, 6), "x"),
        Axis(0, 0.9, ticks(0, 0.4, 0.8), "density"),
    )
    x = np.linspace(-5, 7, 241)
    inside = x[(x >= -1) & (x <= 1)]
    shaded = [frame.at(-1, 0), *(frame.at(each, s04.normal_pdf(each, 0.0, 1.0)) for each in inside), frame.at(1, 0)]
    canvas.area(shaded, "a", 0.25)
    for ink, mean, std, dash, y in (("a", 0.0, 1.0, "", 70), ("b", 0.0, 2.0, "6 4", 150), ("c", 3.0, 0.5, "2 3", 190)):
        frame.curve(x, s04.normal_pdf(x, mean, std), ink, dash=dash)
        canvas.text(540, y, f"mean {mean:g}, std {std:g}", ink, anchor="start")
    canvas.text(540, 90, "shaded: 68 % lie within", "m", 12, "start")
    canvas.text(540, 106, "one std of the mean", "m", 12, "start")
    return canvas


PICTURES = {
    "s01": {"product": product},
    "s02": {"residuals": least_squares},
    "s03": {"step-size": step_size},
    "s04": {"bells": bells},
}
