"""Pictures of stage s23: a decoder of today."""

from __future__ import annotations

import numpy as np

from illustrations.canvas import NARROW, Canvas
from illustrations.diagrams import Box
from illustrations.plots import Table
from illustrations.references import reference

BASE, TURNS = 100.0, 6  # of the picture of rotation: positions 0 to 5
READ, WINDOW = 6, 3  # of the rolling cache: positions 0 to 5
SEEN, HEADS, SHARED, WIDTH_OF_WINDOW = 8, 4, 2, 3  # of the picture of heads


def turned() -> np.ndarray:
    """Return two pairs, (1, 0) each, at every position: shape (positions, 2 pairs, 2)."""
    x = np.tile([1.0, 0.0, 1.0, 0.0], (TURNS, 1))
    return np.asarray(reference("s23").rotary_forward(x, np.arange(TURNS), BASE)).reshape(TURNS, 2, 2)


def rotation() -> Canvas:
    """The first and the second pair of a vector at several positions, on the circle."""
    canvas = Canvas(316, "Two pairs of features, turned by their position", NARROW)
    rates = [float(np.arctan2(*turned()[1, pair, ::-1])) for pair in range(2)]
    for pair in range(2):
        x, y, radius = 112 + 216 * pair, 146, 78
        canvas.text(x, 24, f"pair {pair}", bold=True)
        canvas.text(x, 44, f"{rates[pair]:.1f} radian a position", "m", 12)
        canvas.ring(x, y, "g", radius, 1.5)
        for position, (a, b) in enumerate(turned()[:, pair]):
            canvas.path([(x, y), (x + radius * a, y - radius * b)], "ac"[pair], 2)
            if not pair or position in (0, TURNS - 1):  # the slow pair's places lie side by side
                canvas.text(x + (radius + 13) * a, y + 5 - (radius + 13) * b, str(position), "t", 12)
    canvas.text(220, 270, f"d = 4, base {BASE:.0f}: pair i turns by base^(−2i/d)", "m", 12)
    canvas.text(220, 292, "fast pairs tell neighbours apart, slow ones far from near", "m", 12)
    return canvas


def visible() -> np.ndarray:
    """Return the weights of a head whose scores are all alike, under the window."""
    zeros, values = np.zeros((HEADS, SEEN, 1)), np.tile(np.eye(SEEN), (SHARED, 1, 1))
    forward = reference("s23").grouped_query_attention_forward
    return np.asarray(forward(zeros, zeros[:SHARED], values, WIDTH_OF_WINDOW)[0][0])


def servers() -> list[int]:
    """Return which head of keys and values serves each head of queries."""
    values = np.arange(float(SHARED))[:, None, None]
    forward = reference("s23").grouped_query_attention_forward
    output, _ = forward(np.ones((HEADS, 1, 1)), np.ones((SHARED, 1, 1)), values)
    return [int(head) for head in np.ravel(output).round()]


def heads() -> Canvas:
    """Four heads of queries on two of keys and values, and which keys a query sees."""
    canvas = Canvas(318, "Shared heads, and a window", NARROW)
    canvas.text(14, 24, "who is asked", anchor="start", bold=True)
    places = [60.0 + 104 * server for server in range(SHARED)]
    for head, server in enumerate(servers()):
        x = 34.0 + 52 * head
        canvas.path([(x, 72), (places[server], 148)], "m", 1.3)
        canvas.dot(x, 72, "a", 13)
        canvas.text(x, 76, str(head), "p", 12)
    for server, x in enumerate(places):
        canvas.rect(x - 15, 140, 30, 26, "b", 1, 4)
        canvas.text(x, 158, str(server), "p", 12)
    canvas.text(14, 50, f"{HEADS} heads of queries", "a", 12, "start")
    canvas.text(14, 188, f"{SHARED} heads of keys and values", "b", 12, "start")
    canvas.text(14, 220, "back: what a group gives", "m", 12, "start")
    canvas.text(14, 238, "to keys and values is added up", "m", 12, "start")
    Table(canvas, 262, 50, 20, visible() > 0, inks="aa", title="what a query sees")
    canvas.text(342, 236, "keys →", "m", 12)
    canvas.text(342, 256, f"window {WIDTH_OF_WINDOW}: the query's own", "m", 12)
    canvas.text(342, 274, f"key and the {WIDTH_OF_WINDOW - 1} before it", "m", 12)
    canvas.text(220, 306, "LLaMA 2 of 70 billion: 64 heads of queries on 8", "m", 12)
    return canvas


def block() -> Canvas:
    """The block, from the bottom of the stream to its top."""
    canvas = Canvas(486, "A block of a modern decoder", NARROW)
    path, y = 64.0, 34.0
    canvas.text(path, 22, "x", size=15)
    before = (path, y)
    for norm, name, more, told in (
        ("RMS norm", "grouped attention", "turned Q and K · causal · window", "few heads of keys and values"),
        ("RMS norm", "SwiGLU", "(silu(gate) · up) W_down", "a gate for each hidden unit"),
    ):
        branch = y + 14
        first = Box(canvas, path + 62, y + 30, 110, 34, norm, ink="c")
        second = Box(canvas, path + 62, y + 94, 216, 52, name, more)
        canvas.arrow([(path, branch), (first.top[0], branch), first.top])
        canvas.arrow([first.bottom, (first.bottom[0], second.top[1])])
        canvas.text(path + 62, y + 166, told, "m", 12, "start")
        plus = Box(canvas, path - 13, y + 178, 26, 26, "+", ink="m")
        canvas.arrow([before, plus.top], "d", 2.5)
        canvas.arrow([(path + 46, second.left[1]), (path + 46, plus.right[1]), plus.right])
        canvas.path([second.left, (path + 46, second.left[1])], "m", 1.5)
        before, y = plus.bottom, y + 208
    canvas.arrow([before, (path, y + 16)], "d", 2.5)
    canvas.text(path, y + 32, "output", size=13)
    return canvas


def slots() -> np.ndarray:
    """Return which position stands in each slot after each is appended, NaN where none does yet."""
    cache, found = reference("s23").RollingCache(WINDOW), np.full((READ, WINDOW), np.nan)
    for position in range(READ):
        new = np.full((1, 1, 1, 1), float(position))
        cache.append(new, new)
        for kept in cache.keys.ravel():
            found[position, int(kept) % WINDOW] = kept
    return found


def rolling() -> Canvas:
    """What stands in each slot of a rolling cache, position after position."""
    canvas = Canvas(330, "A rolling cache: position p in slot p mod window", NARROW)
    canvas.text(220, 24, f"window {WINDOW}", bold=True)
    for slot in range(WINDOW):
        canvas.text(190 + 56 * slot, 50, f"slot {slot}", "m", 12)
    for position, row in enumerate(slots()):
        y = 62 + 38 * position
        canvas.text(28, y + 20, f"after {position}", "t", 13, "start")
        for slot, kept in enumerate(row):
            x, new = 166 + 56 * slot, kept == position
            if not np.isnan(kept):
                canvas.rect(x, y, 48, 30, "b" if new else "a", 0.55 if new else 0.15)
                canvas.text(x + 24, y + 20, f"{kept:.0f}", "t", 14)
            canvas.outline(x, y, 48, 30, "m", 1.2, dash="4 3" if np.isnan(kept) else "")
        if position >= WINDOW:
            canvas.text(344, y + 20, f"over {position - WINDOW}", "b", 12, "start")
    canvas.text(220, 314, "what is overwritten has left the window: nobody asks for it", "m", 12)
    return canvas


PICTURES = {"s23": {"rotation": rotation, "heads": heads, "block": block, "rolling": rolling}}
