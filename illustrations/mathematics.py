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
    canvas = Canvas(452, "A matrix product is a table of dot products", NARROW)
    left = Table(canvas, 44, 92, 28, E, "g", title="E (4, 6)", rows=WORDS)
    right = Table(canvas, 256, 64, 28, E.T, "g", title="Eᵀ (6, 4)", columns=WORDS)
    product_ = s01.matmul(E, E.T)
    result = Table(canvas, 140, 280, 40, product_, ".2f", title="E Eᵀ (4, 4)", rows=WORDS, columns=WORDS, tall=36)
    canvas.text(234, 153, "×", size=18)
    canvas.text(84, 358, "=", size=18)
    left.mark(2, 0, 1, 6)
    right.mark(0, 3, 6, 1)
    result.mark(2, 3)
    return canvas


def broadcasting() -> Canvas:
    """Two shapes that fit, the stretched one drawn dashed, and one pair that does not."""
    s01 = reference("s01")
    canvas = Canvas(330, "Broadcasting stretches what is 1", NARROW)
    table, row, column = np.array([[1.0, 2, 3], [4, 5, 6]]), np.array([[10.0, 20, 30]]), np.array([[100.0], [200]])
    for place, (left, right, names) in enumerate(((table, row, "(2, 3) + (3)"), (column, row, "(2, 1) + (3)"))):
        y = 48 + 116 * place
        shape = s01.broadcast_shape(left.shape, right.shape[1:])
        canvas.text(14, y - 16, f"{names} gives {shape}", anchor="start", bold=True)
        for x, values in ((14, left), (166, right)):
            stretched = np.broadcast_to(values, shape)
            Table(canvas, x, y, 38, stretched, "g", most=400, tall=28)
            for i, j in np.argwhere(np.ones(shape)):
                if i >= values.shape[0] or j >= values.shape[1]:
                    canvas.rect(x + 38 * j, y + 28 * i, 38, 28, "p", 0.55)
                    canvas.outline(x + 38 * j, y + 28 * i, 38, 28, "b", 1.5, dash="4 3")
        canvas.text(147, y + 33, "+", size=16)
        canvas.text(299, y + 33, "=", size=16)
        Table(canvas, 312, y, 38, left + right, "g", most=400, tall=28)
    canvas.text(14, 256, "(4, 3) + (4): error", anchor="start", bold=True)
    canvas.text(14, 278, "from the right, 4 meets 3, and neither is 1", "m", anchor="start")
    canvas.outline(14, 300, 26, 16, "b", 1.5, dash="4 3")
    canvas.text(50, 313, "not there: repeated as if it were", "m", anchor="start")
    return canvas


def elimination() -> Canvas:
    """A matrix on its way to a triangle: the pivots, and the zeros that the factors make."""
    A = np.array([[1.0, 2, 0], [4, 4, 4], [2, 0, 5]])
    _, L, U = reference("s02").lu_decomposition(A)
    first = A[[1, 0, 2]]
    first = first - np.array([[0], [0.25], [0.5]]) * first[:1]
    canvas = Canvas(264, "Elimination with row swaps", NARROW)
    for step, (values, pivot) in enumerate(((A, (1, 0)), (first, (2, 1)), (U, None))):
        table = Table(
            canvas, 14 + 148 * step, 52, 38, values, "g", inks="ab", most=8, title=("A", "after column 0", "U")[step]
        )
        for j in range(step):
            for i in range(j + 1, 3):
                x, y = table.corner(i, j)
                canvas.rect(x + 1, y + 1, 36, 36, "c", 0.3)
        if pivot:
            table.mark(*pivot)
            canvas.arrow([(132 + 148 * step, 109), (158 + 148 * step, 109)])
    table = Table(canvas, 14, 208, 44, L[[1, 2, 2], [0, 0, 1]][None], "g", inks="cc", most=2, tall=30)
    canvas.text(14, 200, "factors, kept in L", "c", anchor="start")
    canvas.outline(176, 188, 18, 18, "b", 3)
    canvas.text(204, 202, "pivot: largest, swapped up", anchor="start")
    canvas.rect(176, 218, 18, 18, "c", 0.3)
    canvas.text(204, 232, "cleared by a factor", anchor="start")
    return canvas


def gram_schmidt() -> Canvas:
    """The second column less its part along the first direction: what is left is perpendicular."""
    s02 = reference("s02")
    A = np.array([[3.0, 1], [4, 3]])
    Q, R = s02.qr_decomposition(A)
    Q, R = Q * np.sign(np.diag(R)), R * np.sign(np.diag(R))[:, None]
    along = R[0, 1] * Q[:, 0]
    canvas = Canvas(400, "Gram-Schmidt with two columns", NARROW)
    frame = Frame(
        canvas, 54, 20, 330, 330, Axis(-1.2, 4.2, ticks(-1, 0, 1, 2, 3, 4)), Axis(-0.7, 4.7, ticks(0, 1, 2, 3, 4))
    )
    for (x, y), ink, start, thick in (
        (A[:, 0], "m", (0, 0), 2),
        (along, "b", (0, 0), 4),
        (A[:, 1], "a", (0, 0), 2.5),
        (A[:, 1], "c", along, 2.5),
        (Q[:, 1], "c", (0, 0), 2.5),
    ):
        canvas.arrow([frame.at(*start), frame.at(x, y)], ink, thick)
    frame.label(3.1, 4.1, "a₁", "m", size=15)
    frame.label(1.1, 3.15, "a₂", "a", size=15)
    frame.label(1.9, 2.0, "its part along Q₁:", "b")
    frame.label(1.9, 1.7, f"{written(R[0, 1])} · ({written(Q[0, 0])}, {written(Q[1, 0])})", "b")
    frame.label(-1.1, -0.45, f"what is left: Q₂ = ({written(Q[0, 1])}, {written(Q[1, 1])})", "c")
    canvas.text(220, 388, "a₂ less its part along Q₁ is perpendicular to Q₁", "m")
    return canvas


def dominant() -> Canvas:
    """Directions that a matrix turns a vector to, step by step: they approach the eigenvector of 3."""
    S = np.array([[2.0, 1], [1, 2]])
    value, vector = reference("s02").power_iteration(S, rng=np.random.default_rng(0))
    canvas = Canvas(380, "Multiplied again and again", NARROW)
    frame = Frame(canvas, 44, 24, 290, 290, Axis(0, 1.15, ticks(0, 0.5, 1)), Axis(0, 1.15, ticks(0, 0.5, 1)))
    end = np.abs(vector) * 1.55
    frame.curve([0, end[0]], [0, end[1]], "b", 1.5, "6 4")
    v = np.array([1.0, 0])
    for step in range(4):
        canvas.arrow([frame.at(0, 0), frame.at(*v)], "a", 1.5 + 0.5 * step)
        x, y = frame.at(*v)
        canvas.text(
            x + 10, y + (-6 if step == 0 else 4), f"step {step}: q = {written(v @ S @ v, '.4g')}", "a", 13, "start"
        )
        v = S @ v / np.linalg.norm(S @ v)
    frame.label(0.12, 1.02, f"eigenvector of {written(value)}", "b")
    canvas.text(190, 366, "each step leaves a third of the error", "m")
    return canvas


def least_squares() -> Canvas:
    """The line through three points whose residuals have the smallest sum of squares."""
    t, y = np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0, 6.0])
    start, slope = reference("s02").least_squares(np.column_stack([np.ones(3), t]), y)
    canvas = Canvas(400, "The line of least squares and its residuals", NARROW)
    frame = Frame(canvas, 44, 34, 382, 230, Axis(-0.4, 2.4, ticks(0, 1, 2), "t"), Axis(-1, 7, ticks(0, 2, 4, 6), "b"))
    ends = np.array([-0.4, 2.4])
    frame.curve(ends, start + slope * ends)
    for time, value in zip(t, y, strict=True):
        line = float(start + slope * time)
        frame.curve([time, time], [value, line], "b", 2.5, "5 3")
        side, anchor = (0.06, "start") if line > value else (-0.06, "end")
        frame.label(time + side, (value + line) / 2 - 0.1, f"{line - value:+.1f}".replace("-", "−"), "b", anchor)
    frame.points(t, y, "t", 5)
    canvas.text(44, 322, f"line: {start:.1f} + {slope:.1f} t", "a", anchor="start")
    canvas.text(240, 322, "dashed: residuals A x − b", "b", 12, "start")
    canvas.text(44, 352, "0.25 + 1 + 0.25 = 1.5", anchor="start")
    canvas.text(44, 376, "no other line has a smaller sum of squares", "m", anchor="start")
    return canvas


def secants() -> Canvas:
    """Three secants of x³ at 2, and the tangent: the central one is nearly parallel to it."""
    s03 = reference("s03")
    canvas = Canvas(340, "Secants of x³ at 2, with h = 0.5", NARROW)
    across = Axis(1.2, 2.8, ticks(1.5, 2, 2.5), "x")
    frame = Frame(canvas, 36, 30, 190, 260, across, Axis(0, 20, ticks(0, 5, 10, 15, 20)))
    xs = np.linspace(1.2, 2.8, 65)
    frame.curve(xs, 8 + 12 * (xs - 2), "t", 1.5, "2 4")
    frame.curve(xs, xs * xs * xs, "m", 2.5)
    rows = [("tangent, slope 12", "t", 8 + 12 * 0.8)]
    for method, ink, dash, start in (
        ("forward", "b", "7 4", 2),
        ("backward", "d", "3 3", 1.5),
        ("central", "a", "", 1.5),
    ):
        slope = s03.finite_difference(lambda x: x * x * x, 2.0, h=0.5, method=method)
        frame.curve(xs, start * start * start + slope * (xs - start), ink, 2, dash)
        end = start * start * start + slope * (2.8 - start)
        rows.append((f"{method}: {written(slope)}, error {written(slope - 12, '+g')}", ink, end))
    frame.points([1.5, 2, 2.5], [3.375, 8, 15.625], "t", 5)
    for words, ink, end in rows:  # the forward one leaves the frame at its top
        canvas.text(232, frame.at(2.8, end if end < 20 else 20.7)[1] + 4, words, ink, 12, "start")
    frame.label(2.28, 13.4, "x³", "m", "end", 14)
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
    canvas = Canvas(420, "Error of a finite difference against its step", NARROW)
    labels = [(10.0**power, f"1e−{-power}") for power in range(-12, 0)] + [(1.0, "1")]
    across = Axis(1e-12, 1, labels[::3], "h", log=True)
    frame = Frame(canvas, 56, 34, 370, 224, across, Axis(1e-12, 10, labels[::3], "error", log=True))
    for ink, method, dash in (("b", "forward", "6 4"), ("a", "central", "")):
        found = [s03.finite_difference(lambda x: x * x * x, 0.7, h=float(h), method=method) for h in steps]
        frame.curve(steps, np.maximum(np.abs(np.array(found) - 3 * 0.49), 1e-12), ink, dash=dash)
    frame.label(10**-4.6, 10**-2.9, "forward: order h", "b", "end")
    frame.label(1e-5, 10**-11.3, "central: order h²", "a")
    canvas.text(56, 322, "slope of x³ at 0.7", anchor="start", bold=True)
    for row, (what, why) in enumerate(
        (
            ("too small a step:", "rounding, divided by h"),
            ("too large a step:", "the curve bends away"),
            ("the default of s03:", "central, h = 1e−5"),
        )
    ):
        canvas.text(56, 350 + 24 * row, what, anchor="start")
        canvas.text(214, 350 + 24 * row, why, "m", anchor="start")
    return canvas


def bells() -> Canvas:
    """Normal densities: the mean shifts, the deviation widens."""
    s04 = reference("s04")
    canvas = Canvas(336, "Normal densities", NARROW)
    frame = Frame(
        canvas,
        44,
        34,
        382,
        210,
        Axis(-5, 7, ticks(-4, -2, 0, 2, 4, 6), "x"),
        Axis(0, 0.9, ticks(0, 0.4, 0.8), "density"),
    )
    x = np.linspace(-5, 7, 241)
    inside = x[(x >= -1) & (x <= 1)]
    shaded = [frame.at(-1, 0), *(frame.at(each, s04.normal_pdf(each, 0.0, 1.0)) for each in inside), frame.at(1, 0)]
    canvas.area(shaded, "a", 0.25)
    for ink, mean, std, dash, name in (
        ("a", 0.0, 1.0, "", (-0.6, 0.4, "end")),
        ("b", 0.0, 2.0, "6 4", (-1.7, 0.165, "end")),
        ("c", 3.0, 0.5, "2 3", (3.4, 0.78, "start")),
    ):
        frame.curve(x, s04.normal_pdf(x, mean, std), ink, dash=dash)
        frame.label(name[0], name[1], f"mean {mean:g}, std {std:g}", ink, name[2])
    canvas.text(232, 306, "shaded: 68 % lie within", "m", 12)
    canvas.text(232, 324, "one std of the mean", "m", 12)
    return canvas


def coins() -> Canvas:
    """The entropy of a coin against the probability of heads."""
    s04 = reference("s04")
    canvas = Canvas(320, "The entropy of a coin", NARROW)
    frame = Frame(
        canvas,
        50,
        34,
        376,
        214,
        Axis(0, 1, ticks(0, 0.25, 0.5, 0.75, 1), "p of heads"),
        Axis(0, 0.8, ticks(0, 0.2, 0.4, 0.6, 0.8), "entropy, nats"),
    )
    p = np.linspace(0, 1, 101)
    frame.curve(p, s04.entropy(np.column_stack([p, 1 - p])))
    for heads, words, x, y, anchor in (
        (0.5, "fair: {}", 0.5, 0.72, "middle"),
        (0.25, "0.25: {}", 0.2, 0.6, "end"),
        (0.99, "0.99: {}", 0.95, 0.06, "end"),
    ):
        value = float(s04.entropy(np.array([heads, 1 - heads])))
        frame.points([heads], [value], "b", 5)
        frame.label(x, y, words.format(written(value, ".2f")), "b", anchor, 13)
    canvas.text(238, 310, "most uncertain when fair, not at all when sure", "m")
    return canvas


def together() -> Canvas:
    """Three samples, their deviations from the means, and the products that a covariance adds up."""
    s04 = reference("s04")
    X = np.array([[1.0, 2], [3, 6], [5, 1]])
    middle = X.mean(axis=0)
    canvas = Canvas(396, "A covariance adds up signed rectangles", NARROW)
    frame = Frame(canvas, 44, 24, 300, 280, Axis(0, 6, ticks(*range(7)), "x"), Axis(0, 7, ticks(*range(8))))
    for point in X:
        dx, dy = point - middle
        ink = "a" if dx * dy >= 0 else "b"
        (left, top), (right, bottom) = frame.at(*np.maximum(point, middle)), frame.at(*np.minimum(point, middle))
        canvas.rect(right, top, left - right, bottom - top, ink, 0.3)
        words = f"{written(dx)} · {written(dy)} = {written(dx * dy)}"
        frame.label(
            point[0] + (0.2 if dx <= 0 else -0.3),
            point[1] + (0.35 if dy >= 0 else -0.5),
            words,
            ink,
            "start" if dx <= 0 else "middle",
            13,
        )
    frame.curve([middle[0]] * 2, [0, 7], "m", 1.5, "4 3")
    frame.curve([0, 6], [middle[1]] * 2, "m", 1.5, "4 3")
    frame.points(X[:, 0], X[:, 1], "t", 5)
    canvas.text(354, frame.at(0, middle[1])[1] + 4, "the means", "m", 12, "start")
    total = float(s04.covariance_matrix(X)[0, 1])
    canvas.text(220, 362, f"2 + 0 − 4 = {written(2 * total)}; divided by n − 1 = 2: {written(total)}", size=14)
    canvas.text(220, 386, "blue: both on the same side; orange: on opposite sides", "m", 12)
    return canvas


def likeliest() -> Canvas:
    """Three samples under two normal curves: the fitted one gives them the larger product of densities."""
    s04 = reference("s04")
    samples, x = np.array([1.0, 2, 6]), np.linspace(-4, 10, 141)
    mean, std = s04.fit_normal(samples)
    canvas = Canvas(452, "The most likely curve", NARROW)
    for row, (center, wide, ink, name) in enumerate(((mean, std, "a", "fitted"), (5.0, 1.5, "b", "another"))):
        up = Axis(0, 0.3, ticks(0, 0.1, 0.2, 0.3))
        title = f"{name}: mean {written(center, '.3g')}, std {written(wide, '.3g')}"
        frame = Frame(canvas, 44, 36 + 216 * row, 382, 140, Axis(-4, 10, ticks(-2, 0, 2, 4, 6, 8)), up, title)
        frame.curve(x, s04.normal_pdf(x, center, wide), ink)
        for sample in samples:
            high = float(s04.normal_pdf(sample, center, wide))
            frame.curve([sample, sample], [0, high], ink, 2, "3 3")
            frame.points([sample], [high], ink, 4.5)
        total = float(s04.normal_log_pdf(samples, center, wide).sum())
        canvas.text(235, 212 + 216 * row, f"sum of the log densities: {written(total, '.2f')}", ink, 14)
    return canvas


PICTURES = {
    "s01": {"product": product, "broadcasting": broadcasting},
    "s02": {
        "elimination": elimination,
        "gram-schmidt": gram_schmidt,
        "residuals": least_squares,
        "dominant": dominant,
    },
    "s03": {"secants": secants, "used-twice": used_twice, "step-size": step_size},
    "s04": {"bells": bells, "coins": coins, "together": together, "likeliest": likeliest},
}
