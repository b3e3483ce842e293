"""Pictures of stages s20 to s22: images as sequences, many experts, and long sequences."""

from __future__ import annotations

from typing import Any

import numpy as np

from illustrations.canvas import NARROW, Canvas
from illustrations.diagrams import Box
from illustrations.plots import Axis, Frame, Table, ticks, written
from illustrations.references import data, reference


def patches() -> Canvas:
    """A digit cut into patches, and the patches as tokens."""
    lines = data("s20", "digits.txt").decode("ascii").splitlines()
    _, pixels = next(line.split() for line in lines if line.startswith("3 "))
    image = np.array([int(pixel, 17) for pixel in pixels], float).reshape(8, 8)
    tokens = reference("s20").patchify(image[None, None], 4)[0]
    canvas = Canvas(494, "An image as a sequence of patches", NARROW)
    table = Table(canvas, 116, 36, 26, image, inks="aa", title="image (1, 1, 8, 8)")
    for number in range(4):
        i, j = divmod(number, 2)
        table.mark(4 * i, 4 * j, 4, 4, "b")
        x, y = table.corner(4 * i, 4 * j)
        canvas.rect(x + 3, y + 3, 18, 18, "p", 0.85, 3)
        canvas.text(x + 12, y + 17, str(number), "b", bold=True)
    canvas.arrow([(220, 254), (220, 284)])
    canvas.text(232, 274, "patchify", "m", 12, "start")
    names = tuple(f"patch {number}" for number in range(4))
    Table(canvas, 72, 320, 22, tokens, inks="aa", title="sequence (1, 4, 16)", rows=names, tall=36)
    canvas.text(248, 484, "each row: 4 × 4 pixels, read like a page", "m", 12)
    return canvas


def load() -> Canvas:
    """How many choices each expert gets, and what its capacity drops, before and after the balancing loss."""
    s21 = reference("s21")
    rng = np.random.default_rng(5)
    x, weights = rng.standard_normal((64, 8)) + 0.7, rng.standard_normal((8, 4))
    canvas = Canvas(528, "The load of four experts, before and after the balancing loss", NARROW)
    _loads(canvas, 46, "a router as drawn", x, weights)
    for _ in range(40):
        logits, probabilities = s21.router(x, weights)
        indices, _ = s21.top_k_gating(probabilities, 2)
        slopes = s21.load_balancing_loss_gradient(probabilities, indices)
        weights = weights - 0.5 * s21.router_backward(np.zeros_like(logits), slopes, x, weights)[1]
    _loads(canvas, 306, "after 40 steps on the balancing loss", x, weights)
    return canvas


def _loads(canvas: Canvas, top: float, title: str, x: Any, weights: Any) -> None:
    """Draw a bar an expert: what it serves of the choices of two experts a token, and what it drops."""
    s21 = reference("s21")
    _, probabilities = s21.router(x, weights)
    indices, _ = s21.top_k_gating(probabilities, 2)
    counts, capacity = np.bincount(np.ravel(indices), minlength=4), s21.expert_capacity(len(x), 4, 2, 1.25)
    names = [(expert + 0.5, f"expert {expert}") for expert in range(4)]
    frame = Frame(canvas, 44, top, 380, 160, Axis(0, 4, names), Axis(0, 64, ticks(0, 16, 32, 48, 64)), title)
    for expert, count in enumerate(counts):
        for low, high, ink in ((0, min(count, capacity), "a"), (capacity, count, "b")):
            if high > low:
                (start, upper), (end, lower) = frame.at(expert + 0.12, high), frame.at(expert + 0.88, low)
                canvas.rect(start, upper, end - start, lower - upper, "p")
                canvas.rect(start, upper, end - start, lower - upper, ink, 0.5)
                words = str(high - low) if ink == "a" else f"{high - low} dropped"
                canvas.text((start + end) / 2, (upper + lower) / 2 + 4 if ink == "a" else upper - 6, words, size=12)
    frame.curve([0, 4], [capacity, capacity], "t", 1.5, "6 4")
    loss = float(s21.load_balancing_loss(probabilities, indices))
    canvas.text(234, top + 200, f"{len(x)} tokens, k = 2, capacity {capacity} (dashed), loss {loss:.2f}", "m", 12)


def class_token() -> Canvas:
    """A learned token in front of the patches; after the encoder its row alone goes to the head."""
    s20 = reference("s20")
    shown, token = np.array([[[2.0, 0, 1], [2, 2, 4]]]), np.array([1.0, 0, -1])
    canvas = Canvas(330, "The class token collects, and goes to the head", NARROW)
    Table(canvas, 14, 116, 36, shown[0], "g", most=6, title="patches (2, 3)")
    canvas.arrow([(130, 152), (164, 152)])
    tokens = s20.prepend_class_token(shown, token)[0]
    table = Table(canvas, 216, 98, 36, tokens, "g", most=6, title="tokens (3, 3)", rows=("class", "0", "1"))
    table.mark(0, 0, 1, 3)
    canvas.text(14, 62, "the class token is learned, and the same for each image", "b", 12, "start")
    encoder = Box(canvas, 216, 234, 108, 34, "encoder", ink="d")
    canvas.arrow([(270, 206), encoder.top])
    head = Box(canvas, 352, 234, 76, 34, "head", ink="b")
    canvas.arrow([encoder.right, head.left], "b", 2)
    canvas.text(220, 300, "the head sees row 0 alone;", "m")
    canvas.text(220, 320, "attention has brought it what the patches know", "m")
    return canvas


LOOKS = np.array([[[0.5, 0.5, 0], [0, 1, 0], [0, 0.5, 0.5]], [[0.2, 0.4, 0.4], [0, 0.5, 0.5], [1, 0, 0]]])


def rollout() -> Canvas:
    """Two blocks of attention, half identity, multiplied: what of the input is in the class token."""
    s20 = reference("s20")
    mixed = (LOOKS + np.eye(3)) / 2
    whole = s20.attention_rollout(LOOKS[:, None, None])
    shares = s20.class_token_map(whole, (1, 2))[0]
    canvas = Canvas(306, "Rollout: through all blocks", NARROW)
    names = ("class", "0", "1")
    for x, values, title in ((54, mixed[1], "A_2"), (182, mixed[0], "A_1"), (310, whole[0], "rollout")):
        rows = names if x == 54 else ()
        table = Table(canvas, x, 58, 38, values, ".2f", most=1, title=title, columns=names, rows=rows)
        if x == 310:
            table.mark(0, 0, 1, 3)
    canvas.text(175, 120, "·", size=20)
    canvas.text(303, 120, "=", size=16)
    canvas.text(14, 206, "The class token did not look at patch 1 in block 1,", anchor="start", size=12)
    canvas.text(14, 224, "but has 0.15 of it: by way of block 2.", anchor="start", size=12)
    Table(canvas, 182, 246, 60, shares, ".2f", inks="bb", most=1, tall=34)
    canvas.text(170, 268, "map of the patches", "b", anchor="end")
    return canvas


ROUTER = np.log(np.array([[4.0, 2, 2], [1, 2, 1]]))  # the example of s21's README
TOKENS = np.array([[1.0, 0], [0, 1], [1, 1], [-1, 0]])


def seats() -> Canvas:
    """Four tokens choose two experts each; seats go to first choices, then to second ones, and one is dropped."""
    s21 = reference("s21")
    _, probabilities = s21.router(TOKENS, ROUTER)
    indices, gates = s21.top_k_gating(probabilities, 2)
    capacity = s21.expert_capacity(4, 3, 2, 1.0)
    positions, kept = s21.dispatch(indices, 3, capacity)
    canvas = Canvas(470, "Tokens choose experts, and take their seats", NARROW)
    rows = tuple(f"token {name}" for name in "ABCD")
    columns = tuple(f"expert {expert}" for expert in range(3))
    table = Table(
        canvas, 110, 52, 100, probabilities, ".2f", most=0.6, title="probabilities", columns=columns, rows=rows, tall=30
    )
    for token in range(4):
        for choice in range(2):
            i, j = table.corner(token, int(indices[token, choice]))
            ink, words = ("b", "1st") if choice == 0 else ("d", "2nd")
            canvas.outline(i + 2, j + 2, 96, 26, ink, 2.5, 3)
            canvas.text(i + 80, j + 19, words, ink, 11)
    canvas.text(260, 204, "first all 1st choices, A to D, then all 2nd", "m")
    canvas.arrow([(260, 212), (260, 238)])
    for seat in range(capacity):
        canvas.text(103, 270 + 40 * seat, f"seat {seat}", "m", 12, "end")
        for expert in range(3):
            canvas.outline(114 + 100 * expert, 248 + 40 * seat, 92, 34, "m", 1, 4)
    for token in range(4):
        for choice in range(2):
            expert, seat = int(indices[token, choice]), int(positions[token, choice])
            x, y, ink = 114 + 100 * expert, 248 + 40 * seat, "bd"[choice]
            if kept[token, choice]:
                canvas.rect(x, y, 92, 34, ink, 0.3, 4)
                canvas.text(x + 46, y + 22, f"{'ABCD'[token]} · {written(gates[token, choice], '.2f')}")
            else:
                canvas.outline(x, y + 6, 92, 34, ink, 1.5, 4, "4 3")
                canvas.text(x + 46, y + 28, f"{'ABCD'[token]} dropped", ink)
    canvas.text(14, 446, f"capacity {capacity}: expert 1 is full when C comes again.", anchor="start", size=12)
    canvas.text(14, 462, "In a seat: the token, and its gate for this expert", "m", 12, "start")
    return canvas


def online() -> Canvas:
    """A softmax in two blocks: the sum so far shrinks by one factor when a larger score comes."""
    scores = np.log([3.0, 1, 9, 3])
    weights = reference("s22").online_softmax(scores, 2)[0]
    canvas = Canvas(392, "A softmax block by block", NARROW)
    for row, (seen, most, title) in enumerate(
        ((2, np.log(3), "after block 0: m = ln 3"), (4, np.log(9), "after block 1: m = ln 9"))
    ):
        base = 150 + 176 * row
        canvas.text(14, base - 122, title, anchor="start", bold=True)
        canvas.path([(30, base), (310, base)], "m", 1)
        total = 0.0
        for place in range(seen):
            power = float(np.exp(scores[place] - most))
            total += power
            x, high = 42 + 68 * place, 90 * power
            if row and place < 2:
                was = 3 * high
                canvas.outline(x, base - was, 44, was, "a", 1.2, dash="4 3")
            canvas.rect(x, base - high, 44, high, "ab"[place // 2], 0.62)
            canvas.text(
                x + 22, base + 16, ("1", "1/3", "1", "1/3")[place] if not row else ("1/3", "1/9", "1", "1/3")[place]
            )
        canvas.text(330, base - 40, "total", "m", anchor="start")
        canvas.text(330, base - 18, ("4/3", "4/9 + 4/3 =")[row], anchor="start", size=15)
        if row:
            canvas.text(330, base + 4, "16/9", "b", 15, "start", bold=True)
    canvas.text(14, 362, "ln 9 is more than ln 3: the old total falls to a third.", size=12, anchor="start")
    canvas.text(14, 380, f"weights {', '.join(written(16 * each) + '/16' for each in weights)}", "m", 12, "start")
    return canvas


def tiles() -> Canvas:
    """Which tiles of the scores causal attention computes, one at a time."""
    canvas = Canvas(362, "Attention in tiles: one block of scores at a time", NARROW)
    size, cell, left, top = 4, 22, 64, 44
    for row in range(3):
        for column in range(3):
            x, y, wide = left + column * size * cell, top + row * size * cell, size * cell
            skipped = column > row
            now = (row, column) == (1, 1)
            if not skipped:
                canvas.rect(x, y, wide, wide, "b" if now else "a", 0.55 if now else 0.12)
            canvas.outline(x, y, wide, wide, "m", 1.2, dash="4 3" if skipped else "")
            for step in range(1, size if now else 1):
                canvas.path([(x + step * cell, y), (x + step * cell, y + wide)], "p", 1)
                canvas.path([(x, y + step * cell), (x + wide, y + step * cell)], "p", 1)
            if now:
                canvas.rect(x + 33, y + 33, 22, 22, "p", 1, 11)
            words = "skipped" if skipped else f"{row * (row + 1) // 2 + column}"
            canvas.text(x + wide / 2, y + wide / 2 + 5, words, "m" if skipped else "t", 12 if skipped else 17)
    canvas.text(196, 34, "keys 0 to 11 →", "m", 12)
    canvas.text(14, 60, "queries", "m", 12, "start")
    for line, words in enumerate(("held now:", "4 × 4 = 16", "scores,", "never", "all 144")):
        canvas.text(342, 150 + 19 * line, words, "b" if line in (1,) else "t", anchor="start")
    canvas.text(64, 334, "Keys after all queries of a tile: it is skipped.", "m", 12, "start")
    canvas.text(64, 352, "Kept for each query: maximum, total, weighted sum", "m", 12, "start")
    return canvas


def served(kv_heads: int, query_heads: int = 8) -> list[int]:
    """Return which head of keys and values serves each head of queries."""
    values = np.arange(float(kv_heads))[:, None, None]
    ones = np.ones((query_heads, 1, 1))
    out = reference("s22").grouped_query_attention(ones, np.ones((kv_heads, 1, 1)), values)
    return [int(head) for head in out.ravel().round()]


def shared_heads() -> Canvas:
    """Which heads of keys and values serve eight heads of queries."""
    canvas = Canvas(420, "Heads of queries share heads of keys and values", NARROW)
    for row, (kv_heads, title) in enumerate(
        ((8, "as in s15: 8 of 8"), (2, "grouped: 2 for 8, a quarter is kept"), (1, "multi-query: 1 for 8"))
    ):
        top = 40 + 136 * row
        canvas.text(14, top - 18, title, anchor="start", bold=True)
        places = [96 + 44 * (8 * (server + 0.5) / kv_heads - 0.5) for server in range(kv_heads)]
        for head, server in enumerate(served(kv_heads)):
            x = 96.0 + 44 * head
            canvas.path([(x, top + 12), (places[server], top + 66)], "m", 1.3)
            canvas.dot(x, top + 12, "a", 13)
            canvas.text(x, top + 16, str(head), "p", 12)
        for server, x in enumerate(places):
            canvas.rect(x - 15, top + 58, 30, 26, "b", 1, 4)
            canvas.text(x, top + 76, str(server), "p", 12)
        canvas.text(14, top + 16, "queries", "a", 12, "start")
        canvas.text(14, top + 76, "keys, V", "b", 12, "start")
    return canvas


def turned() -> Canvas:
    """A query and a key on the circle, at two places with the same distance: the same angle lies between them."""
    s22 = reference("s22")
    canvas = Canvas(330, "Rotation: only the distance counts", NARROW)
    point = np.array([[1.0, 0.0]])
    for column, (first, second) in enumerate(((1, 2), (4, 5))):
        x, y, radius = 112 + 216 * column, 140, 84
        canvas.ring(x, y, "g", radius, 1.5)
        ends = []
        for position, ink, name in ((first, "a", "q"), (second, "b", "k")):
            a, b = s22.rotary_embedding(point, np.array([position]))[0]
            ends.append(np.array([a, b]))
            canvas.arrow([(x, y), (x + radius * a, y - radius * b)], ink, 2.5)
            canvas.text(x + (radius + 15) * a, y + 5 - (radius + 15) * b, name, ink, 15, bold=True)
        angles = np.linspace(first, second, 12)
        canvas.path([(x + 34 * np.cos(t), y - 34 * np.sin(t)) for t in angles], "t", 1.5)
        canvas.text(x, 24, f"q at {first}, k at {second}", bold=True)
        canvas.text(x, 268, f"q · k = {written(ends[0] @ ends[1], '.4f')}", size=14)
    canvas.text(220, 300, "Both stand elsewhere, one place apart as before:", "m")
    canvas.text(220, 318, "the same angle, the same score", "m")
    return canvas


def patterns() -> Canvas:
    """What a query may see in causal and window attention, and the numbers that attention holds."""
    s22 = reference("s22")
    n = 12
    eye, zeros = np.eye(n), np.zeros((n, n))
    seen = (
        ("causal", s22.tiled_attention(zeros, zeros, eye, 4, causal=True)[0]),
        ("window, left = 3", s22.sliding_window_attention(zeros, zeros, eye, 3)),
    )
    canvas = Canvas(540, "What a query sees, and what attention holds in memory", NARROW)
    for column, (title, weights) in enumerate(seen):
        Table(canvas, 36 + 204 * column, 36, 14, np.asarray(weights) > 0, inks="aa", title=title)
    canvas.text(220, 226, "rows: queries, columns: keys", "m", 12)
    lengths = 2.0 ** np.arange(7, 15)
    labels = [(128.0, "128"), (1024.0, "1024"), (8192.0, "8192")]
    up = Axis(1e3, 1e9, [(10.0**power, f"1e{power}") for power in range(3, 10)], "numbers held", log=True)
    frame = Frame(canvas, 44, 280, 270, 200, Axis(128, 16384, labels, "length n", log=True), up)
    for name, held, ink, dash in (
        ("scores: n²", lengths**2, "b", ""),
        ("tiles: n · 512", 512 * lengths, "a", "8 4"),
        ("linear: n · 128", 2 * 64 * lengths, "c", "3 3"),
    ):
        frame.curve(lengths, held, ink, dash=dash)
        canvas.text(322, frame.at(16384, held[-1])[1] + 4, name, ink, 12, "start")
    return canvas


PICTURES = {
    "s20": {"patches": patches, "class-token": class_token, "rollout": rollout},
    "s21": {"seats": seats, "load": load},
    "s22": {"online": online, "tiles": tiles, "shared-heads": shared_heads, "turned": turned, "patterns": patterns},
}
