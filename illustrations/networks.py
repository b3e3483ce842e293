"""Pictures of stages s10 to s14: tokens, activations, and networks with and without memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from illustrations.canvas import Canvas
from illustrations.diagrams import Box
from illustrations.plots import Axis, Frame, Table, ticks
from illustrations.references import reference

TEXT = "aaabdaaabac"
KINDS = ("relu", "leaky_relu", "elu", "tanh", "softplus", "swish", "gelu", "mish")


def merges() -> Canvas:
    """Byte pair encoding: after each merge the text takes fewer tokens."""
    s10 = reference("s10")
    found = s10.byte_pair_merges(TEXT, 10)
    canvas = Canvas(210, "Byte pair encoding, merge by merge")
    pieces = {byte: chr(byte) for byte in range(256)}
    for row in range(len(found) + 1):
        y = 24 + 44 * row
        if row:
            first, second = found[row - 1]
            pieces[255 + row] = pieces[first] + pieces[second]
        ids = [int(each) for each in s10.bpe_encode(TEXT, found[:row])]
        x = 180.0
        for each in ids:
            wide = 34 * len(pieces[each]) - 4
            ink = "m" if each < 256 else "abc"[each - 256]
            canvas.rect(x, y, wide, 30, ink, 0.22, 4)
            canvas.outline(x, y, wide, 30, ink, 1.3, 4)
            canvas.text(x + wide / 2, y + 20, pieces[each] if each < 256 else f"{pieces[each]} = {each}", size=12)
            x += wide + 4
        name = f"{pieces[found[row - 1][0]]} + {pieces[found[row - 1][1]]} → {255 + row}" if row else "bytes"
        canvas.text(20, y + 20, name, anchor="start")
        canvas.text(700, y + 20, f"{len(ids)} tokens", "m", 12, "end")
    return canvas


def curves() -> Canvas:
    """Eight activations with their slopes."""
    s11 = reference("s11")
    z = np.linspace(-4, 4, 161)
    canvas = Canvas(446, "Activations and their slopes")
    for place, name in enumerate(KINDS):
        x, y = 40 + 174 * (place % 4), 64 + 198 * (place // 4)
        across = Axis(-4, 4, ticks(-4, -2, 0, 2, 4))
        frame = Frame(canvas, x, y, 140, 140, across, Axis(-1.5, 4, ticks(-1, 0, 1, 2, 3, 4)), name)
        frame.curve([-4, 4], [0, 0], "m", 1)
        kinked = name in ("relu", "leaky_relu")
        parts = (z[z <= 0], z[z > 0]) if kinked else (z,)
        for part in parts:
            frame.curve(part, getattr(s11, f"{name}_derivative")(part), "b", 1.8, "5 3")
        frame.curve(z, getattr(s11, name)(z))
    canvas.path([(40, 20), (70, 20)], "a")
    canvas.text(78, 24, "value", anchor="start")
    canvas.path([(140, 20), (170, 20)], "b", 1.8, "5 3")
    canvas.text(178, 24, "slope: where it is near 0, a unit hardly learns", anchor="start")
    return canvas


def xor() -> Canvas:
    """XOR in the plane of its bits, and in that of two hidden units, where a line separates it."""
    corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], float)
    answers = reference("s11").xor_network(corners).round().astype(int)
    hidden = np.column_stack([np.maximum(corners.sum(1), 0), np.maximum(corners.sum(1) - 1, 0)])
    canvas = Canvas(300, "XOR before and after a hidden layer")
    names = (("x₁", "x₂", "the bits: no line separates 1 from 0"), ("h₁", "h₂", "two hidden units: a line does"))
    for column, points in enumerate((corners, hidden)):
        low, high, title = names[column]
        across, up = Axis(-0.5, 2.5, ticks(0, 1, 2), low), Axis(-0.5, 1.5, ticks(0, 1), high)
        frame = Frame(canvas, 60 + 345 * column, 50, 285, 190, across, up, title)
        if column:
            frame.curve([0.2, 2.5], [-0.15, 1.0], "c", 2, "7 4")
        for point, answer, corner in zip(points, answers, corners, strict=True):
            first = not column or corner.tolist() != [1, 0]
            if answer:
                frame.points(point[:1], point[1:], "b", 7)
            else:
                canvas.ring(*frame.at(*point), "a", 7, 2.5)
            if first:
                named = (
                    f"({corner[0]:g}, {corner[1]:g})" if not column or corner[0] == corner[1] else "(0, 1) and (1, 0)"
                )
                frame.label(point[0] + 0.12, point[1] + (0.12 if point[1] or not column else -0.3), named, size=12)
    return canvas


def first_weights() -> Canvas:
    """The size of what ten layers of ReLU put out, for four ways to draw the first weights."""
    s12 = reference("s12")
    draws: tuple[tuple[str, str, str, Callable[[np.random.Generator], Any]], ...] = (
        ("deviation 1", "b", "2 3", lambda rng: rng.standard_normal((256, 256))),
        ("He", "a", "", lambda rng: s12.he_normal(256, 256, rng)),
        ("Xavier", "c", "8 4", lambda rng: s12.xavier_uniform(256, 256, rng)),
        ("deviation 0.01", "d", "4 3", lambda rng: 0.01 * rng.standard_normal((256, 256))),
    )
    canvas = Canvas(300, "How large the outputs of ten layers are")
    up = Axis(
        1e-10,
        1e11,
        [(1e-9, "1e−9"), (1e-6, "1e−6"), (1e-3, "1e−3"), (1.0, "1"), (1e3, "1e3"), (1e6, "1e6"), (1e9, "1e9")],
        "size of the outputs (root of the mean square)",
        log=True,
    )
    frame = Frame(canvas, 66, 34, 430, 212, Axis(0, 10, ticks(*range(11)), "layer"), up)
    for name, ink, dash, draw in draws:
        rng = np.random.default_rng(12)
        x = rng.standard_normal((50, 256))
        sizes = [1.0]
        for _ in range(10):
            x = np.maximum(x @ draw(rng), 0)
            sizes.append(float(np.sqrt((x**2).mean())))
        frame.curve(range(11), sizes, ink, dash=dash)
        canvas.text(508, frame.at(10, sizes[-1])[1] + (10 if name == "Xavier" else 2), name, ink, anchor="start")
    return canvas


def windows() -> Canvas:
    """A convolution: each window of the image, times the kernel, is one number of the output."""
    x = np.array([[1.0, 2.0, 0.0], [0.0, 3.0, 1.0], [2.0, 1.0, 4.0]])
    W = np.array([[1.0, 0.0], [2.0, -1.0]])
    out, _ = reference("s13").conv2d_forward(x[None, None], W[None, None], np.array([0.5]))
    canvas = Canvas(370, "The windows of a convolution")
    for place in range(4):
        i, j = divmod(place, 2)
        left, top = 24 + 350 * j, 42 + 178 * i
        image = Table(canvas, left, top, 36, x, "g", title="image")
        kernel = Table(canvas, left + 136, top + 18, 36, W, "g", title="kernel")
        result = Table(canvas, left + 236, top + 18, 40, out[0, 0], "g", title="output")
        image.mark(i, j, 2, 2)
        kernel.mark(0, 0, 2, 2)
        result.mark(i, j)
        canvas.text(left + 122, top + 59, "·", size=20)
        canvas.text(left + 222, top + 59, "→", size=16)
        window = x[i : i + 2, j : j + 2].ravel()
        terms = " + ".join(
            f"{a:g}·{b:g}" if b >= 0 else f"{a:g}·(−{-b:g})" for a, b in zip(window, W.ravel(), strict=True)
        )
        text = f"{terms} + 0.5 = {out[0, 0, i, j]:g}".replace("= -", "= −")
        canvas.text(left, top + 132, text, "m", 12, "start")
    return canvas


def unrolled() -> Canvas:
    """A recurrent network, unrolled: the same cell at every step."""
    canvas = Canvas(240, "A recurrent network, unrolled in time")
    before = (30.0, 115.0)
    for step in range(4):
        x = 110 + 150 * step
        cell = Box(canvas, x, 92, 92, 46, "cell", "W_x, W_h, b")
        canvas.arrow([before, cell.left], "a")
        canvas.text((before[0] + x) / 2, 104, f"h{'₀₁₂₃'[step]}", "a")
        canvas.arrow([(x + 46, 186), cell.bottom])
        canvas.text(x + 46, 203, f"x{'₁₂₃₄'[step]}")
        canvas.arrow([cell.top, (x + 46, 48)], "a")
        canvas.text(x + 46, 40, f"h{'₁₂₃₄'[step]}", "a")
        before = cell.right
    canvas.arrow([before, (700, 115)], "a")
    canvas.text(680, 104, "h₄", "a")
    canvas.arrow([(650, 160), (90, 160)], "b", 1.5, "6 4")
    canvas.text(24, 164, "gradient", "b", 12, "start")
    canvas.text(360, 229, "one set of weights for all steps; on the way back its gradients are summed", "m", 12)
    return canvas


def through_time() -> Canvas:
    """What is left of a gradient after steps back in time, for three strengths of the recurrent weight."""
    s14 = reference("s14")
    canvas = Canvas(280, "A gradient on its way back through time")
    up = Axis(
        1e-3,
        1e3,
        [(1e-3, "0.001"), (1e-2, "0.01"), (0.1, "0.1"), (1.0, "1"), (10.0, "10"), (100.0, "100"), (1000.0, "1000")],
        "gradient",
        log=True,
    )
    frame = Frame(canvas, 66, 34, 440, 192, Axis(0, 50, ticks(0, 10, 20, 30, 40, 50), "steps back"), up)
    for strength, ink, dash in ((1.1, "b", "8 4"), (1.0, "c", ""), (0.9, "a", "4 3")):
        left = []
        for length in range(1, 51):
            unit = {"W_x": np.zeros((1, 1)), "W_h": np.array([[strength]]), "b": np.zeros(1)}
            grad = np.zeros((1, length, 1))
            grad[0, -1] = 1
            left.append(
                s14.rnn_backward(grad, s14.rnn_forward(np.zeros((1, length, 1)), np.zeros((1, 1)), unit)[1])[1].item()
            )
        frame.curve(range(51), [1.0, *left], ink, dash=dash)
        kind = {1.1: "explodes", 1.0: "stays", 0.9: "vanishes"}[strength]
        canvas.text(518, frame.at(50, left[-1])[1] + 4, f"W_h = {strength:g}: {kind}", ink, anchor="start")
    return canvas


PICTURES = {
    "s10": {"merges": merges},
    "s11": {"curves": curves, "xor": xor},
    "s12": {"first-weights": first_weights},
    "s13": {"windows": windows},
    "s14": {"unrolled": unrolled, "through-time": through_time},
}
