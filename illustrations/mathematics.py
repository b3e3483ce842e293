"""Pictures of stages s01 to s04: products, lines, derivatives and chance."""

from __future__ import annotations

import numpy as np

from illustrations.canvas import NARROW, Canvas
from illustrations.diagrams import Box
from illustrations.plots import Axis, Frame, Table, ticks, written
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


def secants() -> Canvas:
    """Three secants of x³ at 2, and the tangent: the central one is nearly parallel to it."""
    s03 = reference("s03")
    canvas = Canvas(408, "Secants of x³ at 2, with h = 0.5", NARROW)
    across = Axis(1.2, 2.8, ticks(1.5, 2, 2.5), "x")
    frame = Frame(canvas, 44, 30, 384, 230, across, Axis(0, 20, ticks(0, 5, 10, 15, 20)))
    xs = np.linspace(1.2, 2.8, 65)
    frame.curve(xs, 8 + 12 * (xs - 2), "t", 1.5, "2 4")
    frame.curve(xs, xs * xs * xs, "m", 2.5)
    rows = [("x³", "m", ""), ("tangent, slope 12", "t", "2 4")]
    for method, ink, dash, start in (
        ("forward", "b", "7 4", 2),
        ("backward", "d", "3 3", 1.5),
        ("central", "a", "", 1.5),
    ):
        slope = s03.finite_difference(lambda x: x * x * x, 2.0, h=0.5, method=method)
        frame.curve(xs, start * start * start + slope * (xs - start), ink, 2, dash)
        rows.append((f"{method}: {written(slope)}, error {written(slope - 12, '+g')}", ink, dash))
    frame.points([1.5, 2, 2.5], [3.375, 8, 15.625], "t", 5)
    for place, (words, ink, dash) in enumerate(rows):
        x, y = (44 + 190 * place, 318) if place < 2 else (44, 318 + 24 * (place - 1))
        canvas.path([(x, y), (x + 34, y)], ink, 2.5, dash)
        canvas.text(x + 44, y + 4, words, ink, anchor="start")
    return canvas


def used_twice() -> Canvas:
    """The graph in which a is used by b and by y: its gradient is the sum of what both hand back."""
    s03 = reference("s03")
    x = s03.Variable(2.0)
    a = 3 * x
    b = a * a
    y = a + b
    y.backward()
    canvas = Canvas(370, "A variable that is used twice adds up what comes back", NARROW)
    canvas.text(14, 24, "value forward →", anchor="start", size=12)
    canvas.text(426, 24, "← gradient backward", "b", 12, "end")
    places = ((x, 14, 150, "x"), (a, 134, 150, "a = 3x"), (b, 232, 52, "b = a·a"), (y, 328, 150, "y = a + b"))
    boxes = [
        Box(canvas, left, top, 98, 60, f"{name} = {written(node.value)}", f"grad {written(node.grad)}", more_ink="b")
        for node, left, top, name in places
    ]
    of_x, of_a, of_b, of_y = boxes
    for ink, ends, dash in (
        ("m", [(of_x.right[0], 170), (of_a.left[0], 170)], ""),
        ("b", [(of_a.left[0], 192), (of_x.right[0], 192)], "4 3"),
        ("m", [(170, of_a.y), (170, 72), (of_b.x, 72)], ""),
        ("b", [(of_b.x, 94), (194, 94), (194, of_a.y)], "4 3"),
        ("m", [(of_b.right[0], 72), (390, 72), (390, of_y.y)], ""),
        ("b", [(366, of_y.y), (366, 94), (of_b.right[0], 94)], "4 3"),
        ("m", [(of_a.right[0], 170), (of_y.x, 170)], ""),
        ("b", [(of_y.x, 192), (of_a.right[0], 192)], "4 3"),
    ):
        canvas.arrow(ends, ink, 1.6, dash)
    through, past = 2 * a.value * b.grad, y.grad
    for words, left, top, anchor in (
        (f"3 · {written(a.grad)} = {written(x.grad)}", 120, 232, "middle"),
        (f"2a · 1 = {written(through)}", 184, 44, "end"),
        (written(past), 280, 208, "middle"),
    ):
        canvas.text(left, top, words, "b", 13, anchor)
    canvas.text(220, 276, f"a hears {written(past)} from y and {written(through)} from b:", size=14)
    canvas.text(
        220,
        298,
        f"{written(past)} + {written(through)} = {written(a.grad)}, and x gets 3 · 13 = {written(x.grad)}",
        "b",
        14,
    )
    canvas.text(220, 334, "order of the walk: y, b, a, x", "m")
    canvas.text(220, 354, "a speaks only when both have spoken", "m")
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
    "s03": {"secants": secants, "used-twice": used_twice, "step-size": step_size},
    "s04": {"bells": bells},
}
