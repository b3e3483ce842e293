"""Pictures of stages s20 to s22: images as sequences, many experts, and long sequences."""

from __future__ import annotations

from typing import Any

import numpy as np

from illustrations.canvas import Canvas
from illustrations.plots import Axis, Frame, Table, ticks
from illustrations.references import data, reference


def patches() -> Canvas:
    """A digit cut into patches, and the patches as tokens."""
    lines = data("s20", "digits.txt").decode("ascii").splitlines()
    _, pixels = next(line.split() for line in lines if line.startswith("3 "))
    image = np.array([int(pixel, 17) for pixel in pixels], float).reshape(8, 8)
    tokens = reference("s20").patchify(image[None, None], 4)[0]
    canvas = Canvas(280, "An image as a sequence of patches")
    table = Table(canvas, 30, 50, 26, image, inks="aa", title="image (1, 1, 8, 8)")
    for number in range(4):
        i, j = divmod(number, 2)
        table.mark(4 * i, 4 * j, 4, 4, "b")
        x, y = table.corner(4 * i, 4 * j)
        canvas.rect(x + 3, y + 3, 18, 18, "p", 0.85, 3)
        canvas.text(x + 12, y + 17, str(number), "b", bold=True)
    canvas.arrow([(250, 154), (304, 154)])
    canvas.text(277, 144, "patchify", "m", 12)
    names = tuple(f"patch {number}" for number in range(4))
    Table(canvas, 370, 66, 20, tokens, inks="aa", title="sequence (1, 4, 16)", rows=names, tall=36)
    canvas.text(530, 238, "each row: 4 × 4 pixels, read like a page", "m", 12)
    return canvas


def load() -> Canvas:
    """How many choices each expert gets, and what its capacity drops, before and after the balancing loss."""
    s21 = reference("s21")
    rng = np.random.default_rng(5)
    x, weights = rng.standard_normal((64, 8)) + 0.7, rng.standard_normal((8, 4))
    canvas = Canvas(284, "The load of four experts, before and after the balancing loss")
    _loads(canvas, 50, "a router as drawn", x, weights)
    for _ in range(40):
        logits, probabilities = s21.router(x, weights)
        indices, _ = s21.top_k_gating(probabilities, 2)
        slopes = s21.load_balancing_loss_gradient(probabilities, indices)
        weights = weights - 0.5 * s21.router_backward(np.zeros_like(logits), slopes, x, weights)[1]
    _loads(canvas, 395, "after 40 steps on the balancing loss", x, weights)
    return canvas


def _loads(canvas: Canvas, left: float, title: str, x: Any, weights: Any) -> None:
    """Draw a bar an expert: what it serves of the choices of two experts a token, and what it drops."""
    s21 = reference("s21")
    _, probabilities = s21.router(x, weights)
    indices, _ = s21.top_k_gating(probabilities, 2)
    counts, capacity = np.bincount(np.ravel(indices), minlength=4), s21.expert_capacity(len(x), 4, 2, 1.25)
    names = [(expert + 0.5, f"expert {expert}") for expert in range(4)]
    frame = Frame(canvas, left, 46, 295, 180, Axis(0, 4, names), Axis(0, 64, ticks(0, 16, 32, 48, 64)), title)
    for expert, count in enumerate(counts):
        for low, high, ink in ((0, min(count, capacity), "a"), (capacity, count, "b")):
            if high > low:
                (start, top), (end, bottom) = frame.at(expert + 0.2, high), frame.at(expert + 0.8, low)
                canvas.rect(start, top, end - start, bottom - top, "p")
                canvas.rect(start, top, end - start, bottom - top, ink, 0.5)
                words = str(high - low) if ink == "a" else f"{high - low} dropped"
                canvas.text((start + end) / 2, (top + bottom) / 2 + (4 if high - low > 5 else -7), words, size=11)
    frame.curve([0, 4], [capacity, capacity], "t", 1.5, "6 4")
    loss = float(s21.load_balancing_loss(probabilities, indices))
    canvas.text(left + 148, 266, f"{len(x)} tokens, k = 2, capacity {capacity} · loss {loss:.2f}", "m", 12)


def patterns() -> Canvas:
    """What a query may see in causal and window attention, and the numbers that attention holds."""
    s22 = reference("s22")
    n = 12
    eye, zeros = np.eye(n), np.zeros((n, n))
    seen = (
        ("causal", s22.tiled_attention(zeros, zeros, eye, 4, causal=True)[0]),
        ("window, left = 3", s22.sliding_window_attention(zeros, zeros, eye, 3)),
    )
    canvas = Canvas(290, "What a query sees, and what attention holds in memory")
    for column, (title, weights) in enumerate(seen):
        Table(canvas, 30 + 190 * column, 56, 13, np.asarray(weights) > 0, inks="aa", title=title)
    canvas.text(203, 240, "rows: queries, columns: keys", "m", 12)
    lengths = 2.0 ** np.arange(7, 15)
    labels = [(128.0, "128"), (1024.0, "1024"), (8192.0, "8192")]
    up = Axis(1e3, 1e9, [(10.0**power, f"1e{power}") for power in range(3, 10)], "numbers held", log=True)
    frame = Frame(canvas, 450, 56, 150, 176, Axis(128, 16384, labels, "length n", log=True), up)
    for name, held, ink, dash in (
        ("scores: n²", lengths**2, "b", ""),
        ("tiles: n · 512", 512 * lengths, "a", "8 4"),
        ("linear: n · 128", 2 * 64 * lengths, "c", "3 3"),
    ):
        frame.curve(lengths, held, ink, dash=dash)
        canvas.text(606, frame.at(16384, held[-1])[1] + 4, name, ink, 12, "start")
    return canvas


PICTURES = {"s20": {"patches": patches}, "s21": {"load": load}, "s22": {"patterns": patterns}}
