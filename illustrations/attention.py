"""Pictures of stages s15 and s16: attention, its heads, and its layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from illustrations.canvas import NARROW, Canvas
from illustrations.diagrams import Box
from illustrations.plots import Table, written
from illustrations.references import reference

QUERY = np.array([[1.0, 0.0]])  # the example of s15's README
KEYS = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
VALUES = np.array([[10.0, 0.0], [20.0, 0.0], [30.0, 6.0]])


def lookup() -> Canvas:
    """A query meets three keys; what matches becomes a share, and the shares mix the values."""
    s15 = reference("s15")
    scores = s15.compute_attention_scores(QUERY, KEYS)[0]
    output, weights = s15.scaled_dot_product_attention(QUERY, KEYS, VALUES)
    canvas = Canvas(452, "One query looks three keys up, softly", NARROW)
    for y, name, more in (
        (36, "query q", ""),
        (112, "keys", ""),
        (170, "scores", "q·k / √2"),
        (247, "weights", "softmax"),
        (334, "values", ""),
        (420, "output", "their mixture"),
    ):
        canvas.text(14, y, name, anchor="start", bold=True)
        canvas.text(14, y + 16, more, "m", 12, "start")
    Table(canvas, 232, 18, 28, QUERY, "g", most=1)
    for key, weight in enumerate(weights[0]):
        x = 160 + 100 * key
        canvas.arrow([(260, 48), (x, 92)], "m", 1.2)
        Table(canvas, x - 28, 94, 28, KEYS[key : key + 1], "g", inks="cc", most=1)
        canvas.text(x, 138, f"key {key}", "m", 12)
        canvas.text(x, 176, written(scores[key], ".2f"))
        canvas.path([(x - 36, 282), (x + 36, 282)], "m", 1)
        high = 160 * float(weight)
        canvas.rect(x - 22, 282 - high, 44, high, "b", 0.62)
        canvas.text(x, 274 if high > 24 else 252, written(weight, ".2f"))
        Table(canvas, x - 30, 314, 30, VALUES[key : key + 1], "g", inks="dd", most=40)
        canvas.path([(x, 284), (x, 312)], "b", 14 * float(weight))
        canvas.arrow([(x, 346), (260 + 20 * (key - 1), 402)], "b", 14 * float(weight))
    Table(canvas, 202, 406, 58, output, ".2f", inks="dd", most=40, tall=32)
    return canvas


def backward() -> Canvas:
    """The graph of one attention: values forward, and the gradient that reaches each place."""
    s15 = reference("s15")
    output, weights = s15.scaled_dot_product_attention(QUERY, KEYS, VALUES)
    found = lookup_gradients()
    canvas = Canvas(424, "Attention backward: each gradient stands where its value does", NARROW)
    canvas.text(14, 22, "value forward, down", anchor="start", size=12)
    canvas.text(426, 22, "gradient backward, up", "b", 12, "end")
    parts = (
        ("Q", 12, 40, 130, QUERY[0], found["Q"][0]),
        ("S", 84, 126, 210, s15.compute_attention_scores(QUERY, KEYS)[0], found["S"][0]),
        ("A", 84, 212, 210, weights[0], found["A"][0]),
        ("O", 114, 298, 210, output[0], np.ones(2)),
    )
    boxes = {}
    for name, x, y, wide, value, gradient in parts:
        lines = (f"{name} = {_row(value)}", f"d{name} = {_row(gradient)}")
        boxes[name] = Box(canvas, x, y, wide, 50, *lines, more_ink="b")
    boxes["K"] = Box(canvas, 176, 40, 130, 50, "K, three rows", "dK = dSᵀQ/√2", more_ink="b")
    boxes["V"] = Box(canvas, 318, 212, 116, 50, "V, three rows", "dV = AᵀdO", more_ink="b")
    boxes["L"] = Box(canvas, 144, 376, 150, 34, "L = sum of O", ink="m")
    (across, high), (below, low) = boxes["S"].top, boxes["O"].top
    for (start, bottom), (end, top) in (
        (boxes["Q"].bottom, (across - 30, high)),
        (boxes["K"].bottom, (across + 30, high)),
        (boxes["S"].bottom, boxes["A"].top),
        (boxes["A"].bottom, (across, low)),
        (boxes["V"].bottom, (below + 85, low)),
        (boxes["O"].bottom, boxes["L"].top),
    ):
        canvas.arrow([(start - 8, bottom), (end - 8, top)])
        canvas.arrow([(end + 8, top), (start + 8, bottom)], "b", 1.5, "4 3")
    return canvas


def lookup_gradients() -> dict[str, np.ndarray]:
    """Return the gradients of the sum of the output, by the formulas of the README."""
    _, A = reference("s15").scaled_dot_product_attention(QUERY, KEYS, VALUES)
    dA = np.ones((1, 2)) @ VALUES.T
    dS = A * (dA - (dA * A).sum(axis=-1, keepdims=True))
    return {"A": dA, "S": dS, "Q": dS @ KEYS / np.sqrt(2), "K": dS.T @ QUERY / np.sqrt(2), "V": A.T @ np.ones((1, 2))}


def _row(values: np.ndarray) -> str:
    return ", ".join(written(value, ".3g") for value in values)


def mask() -> Canvas:
    """Scores, the causal mask, and the weights that the softmax makes of what is left."""
    s15 = reference("s15")
    scores = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0], [1.0, 1.0, 1.0]])
    allowed = s15.create_causal_mask(3)
    masked = s15.apply_attention_mask(scores, allowed, -np.inf)
    canvas = Canvas(238, "A causal mask acts before the softmax")
    names = ("key 0", "key 1", "key 2")
    places = (
        (64, scores, "g", "scores"),
        (282, masked, "g", "masked scores"),
        (500, s15.attention_weights(masked), ".2f", "weights"),
    )
    for x, values, form, title in places:
        rows = tuple(f"query {i}" for i in range(3)) if x == 64 else ()
        table = Table(canvas, x, 60, 48, values, form, most=1 if x == 500 else 3, title=title, columns=names, rows=rows)
        for i, j in np.argwhere(~allowed):
            if x == 282:
                table.canvas.outline(*table.corner(i, j), 48, 48, "b", 1.5, dash="4 3")
    canvas.arrow([(218, 132), (272, 132)])
    canvas.text(245, 122, "mask", "m", 12)
    canvas.arrow([(436, 132), (490, 132)])
    canvas.text(463, 122, "softmax", "m", 12)
    canvas.text(572, 224, "each row sums to 1", "m", 12)
    return canvas


def heads() -> Canvas:
    """The features of each token are cut among the heads; each head has weights of its own."""
    s15 = reference("s15")
    x = np.array([[1, 0, 0, 1], [0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 1, 0]], float) * 2
    split = s15.split_heads(x[None], 2)
    _, weights = s15.scaled_dot_product_attention(split, split, split)
    canvas = Canvas(300, "Heads: each attends with its own features")
    tokens = tuple(f"token {i}" for i in range(4))
    whole = Table(canvas, 76, 104, 32, x, "g", title="x (4, 4)", rows=tokens, inks="aa", most=4)
    whole.mark(0, 0, 4, 2, "a")
    whole.mark(0, 2, 4, 2, "b")
    for head, (ink, y) in enumerate((("a", 34), ("b", 186))):
        part = Table(canvas, 300, y, 24, split[0, head], "g", title=f"head {head}", inks=ink * 2, most=4)
        part.mark(0, 0, 4, 2, ink)
        canvas.arrow([(212, 150 if head == 0 else 186), (290, y + 48)])
        Table(canvas, 450, y, 24, weights[0, head], "", title="its weights", inks=ink * 2, most=0.9)
        canvas.arrow([(358, y + 48), (440, y + 48)])
        canvas.text(399, y + 40, "QKᵀ/√d_k", "m", 11)
    for y, lines in (
        (70, ("tokens 0 and 2 agree,", "tokens 1 and 3 agree")),
        (222, ("tokens 0 and 1 agree,", "tokens 2 and 3 agree")),
    ):
        for row, line in enumerate(lines):
            canvas.text(560, y + 17 * row, line, "m", 12, "start")
    return canvas


def positions() -> Canvas:
    """The sinusoidal encoding as an image: fast columns on the left, slow ones on the right."""
    encoding = reference("s15").sinusoidal_encoding(48, 32)
    canvas = Canvas(372, "The sinusoidal encoding of 48 positions in 32 columns")
    left, top, wide, high = 70, 44, 14, 6
    Table(canvas, left, top, wide, encoding, inks="ab", most=1.0, tall=high)
    for position in (0, 10, 20, 30, 40):
        canvas.text(left - 8, top + position * high + 7, str(position), "m", 11, "end")
    for column in (0, 8, 16, 24, 31):
        canvas.text(left + (column + 0.5) * wide, top + 48 * high + 16, str(column), "m", 11)
    canvas.text(left + 16 * wide, top + 48 * high + 34, "column: sin and cos by turns", "m", 12)
    canvas.text(left - 52, top - 12, "position", "m", 12, "start")
    for row, (ink, share, words) in enumerate(
        (("a", 1.0, "1"), ("a", 0.4, ""), ("a", 0.0, "0"), ("b", 0.4, ""), ("b", 1.0, "−1"))
    ):
        y = 70 + 22 * row
        canvas.rect(552, y, 26, 22, ink, 0.62 * share)
        canvas.text(588, y + 15, words, "m", 12, "start")
    canvas.outline(552, 70, 26, 110, "m")
    for row, line in enumerate(
        ("left: fast clock hands", "tell neighbours apart", "", "right: slow clock hands", "tell near from far")
    ):
        canvas.text(540, 216 + 18 * row, line, "t" if row in (0, 3) else "m", 12, "start")
    return canvas


def block() -> Canvas:
    """The encoder block of 2017: attention and feed-forward network, each with residual and norm."""
    canvas = Canvas(220, "The encoder block")
    parts, x = [], 96.0
    for words, more, ink, wide in (
        ("attention", "Q, K, V all of x", "a", 116),
        ("+", "", "m", 30),
        ("layer_norm", "γ₁, β₁", "c", 92),
        ("feed_forward", "W1, b1, W2, b2", "b", 116),
        ("+", "", "m", 30),
        ("layer_norm", "γ₂, β₂", "c", 92),
    ):
        parts.append(Box(canvas, x, 104, wide, 52, words, more, ink))
        x += wide + 18
    before = (50.0, 130.0)
    for part in parts:
        canvas.arrow([before, part.left])
        before = part.right
    canvas.arrow([before, (704, 130)])
    canvas.text(40, 134, "x")
    canvas.text(690, 119, "out", size=12)
    for start, end, name in ((68.0, 1, "x"), (parts[2].right[0] + 6, 4, "h")):
        canvas.arrow([(start, 130), (start, 66), (parts[end].top[0], 66), parts[end].top], "d")
        canvas.text((start + parts[end].top[0]) / 2, 56, f"residual: {name} goes past", "d", 12)
    canvas.text(parts[2].right[0] + 9, 176, "h", size=12)
    canvas.text(
        360, 204, "all shapes (batch, seq, d_model): output and input have the same, so blocks can be stacked", "m", 12
    )
    return canvas


def layer() -> Canvas:
    """The way through the layer, and the ten steps of its backward pass."""
    canvas = Canvas(390, "The attention layer, forward and backward")
    rows = (
        ("query_input", "W_Q", "Q", "10", "7"),
        ("key_input", "W_K", "K", "9", "6"),
        ("value_input", "W_V", "V", "8", "4"),
    )
    ends = []
    for row, (given, weights, name, step, before) in enumerate(rows):
        y = 48 + 86 * row
        canvas.text(14, y + 26, given, anchor="start", size=12)
        product = Box(canvas, 108, y, 80, 44, f"× {weights}", f"step {step}", "d")
        split = Box(canvas, 218, y, 104, 44, name, f"split · step {before}")
        canvas.arrow([(92, y + 22), product.left])
        canvas.arrow([product.right, split.left])
        ends.append(split)
    scores = Box(canvas, 366, 90, 108, 44, "S = QKᵀ·scale", "mask · step 5", "b")
    shares = Box(canvas, 504, 90, 118, 44, "A = softmax(S)", "step 3", "b")
    output = Box(canvas, 504, 220, 118, 44, "O = A V", "step 2", "b")
    mixed = Box(canvas, 504, 312, 118, 44, "× W_O", "join · step 1", "d")
    canvas.arrow([ends[0].right, (344, 70), (344, 104), (366, 104)])
    canvas.arrow([ends[1].right, (344, 156), (344, 120), (366, 120)])
    canvas.arrow([scores.right, shares.left])
    canvas.arrow([shares.bottom, output.top])
    canvas.arrow([ends[2].right, output.left])
    canvas.arrow([output.bottom, mixed.top])
    canvas.arrow([mixed.right, (654, 334)])
    canvas.text(662, 338, "output", anchor="start")
    canvas.text(14, 320, "Arrows: forward. Backward goes against them,", "m", 12, "start")
    canvas.text(14, 338, "step 1 first, and leaves each gradient where", "m", 12, "start")
    canvas.text(14, 356, "its number stands.", "m", 12, "start")
    return canvas


def allowed(**masks: Any) -> np.ndarray:
    """Return which keys each of four queries attends to under masks."""
    layer = reference("s16").Attention(4, 1, np.random.default_rng(0))
    layer.forward(np.ones((1, 4, 4)), **masks)
    return np.asarray(layer.attention_weights[0, 0] > 0)


def both_masks() -> Canvas:
    """The causal mask, a padding mask, and both: a key must be allowed by both."""
    real = np.array([[False, True, True, True]])
    seen: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("causal", "∧", {"causal": True}),
        ("padding", "=", {"padding_mask": real}),
        ("both", "", {"causal": True, "padding_mask": real}),
    )
    canvas = Canvas(252, "A key must be allowed by both masks", NARROW)
    for column, (title, sign, masks) in enumerate(seen):
        x = 34 + 140 * column
        rows = tuple("0123") if column == 0 else ()
        values = allowed(**masks)
        table = Table(canvas, x, 62, 28, values, title=title, inks="aa", most=1, rows=rows, columns=tuple("0123"))
        canvas.text(x + 126, 124, sign, size=17)
        if not sign:
            table.mark(0, 0, 1, 4)
    canvas.text(14, 204, "rows: queries, columns: keys; key 0 is padding", "m", 12, "start")
    canvas.text(14, 236, "Query 0 has no key left: its weights and output are 0.", "b", 12, "start")
    return canvas


def cross() -> Canvas:
    """Two queries look things up in a memory of three: weights (2, 3), and an output for each query."""
    layer = reference("s16").Attention(2, 1)
    layer.query_weights = layer.key_weights = layer.value_weights = layer.output_weights = np.eye(2)
    x, memory = np.array([[[3.0, 0.0], [0.0, 3.0]]]), np.array([[[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]]])
    out = layer.forward(x, memory)
    canvas = Canvas(330, "Cross-attention: one sequence asks another", NARROW)
    Table(canvas, 70, 168, 36, x[0], "g", most=5, title="x", rows=("query 0", "query 1"))
    Table(canvas, 194, 32, 46, memory[0].T, "g", inks="cc", most=4, tall=32)
    canvas.text(182, 68, "memory", "c", anchor="end", bold=True)
    keys = tuple(f"key {key}" for key in range(3))
    Table(canvas, 194, 168, 46, layer.attention_weights[0, 0], ".2f", inks="bb", most=1, columns=keys, tall=36)
    Table(canvas, 354, 168, 36, out[0], ".2f", most=5, title="output")
    canvas.arrow([(146, 204), (188, 204)])
    canvas.arrow([(263, 100), (263, 146)], "c")
    canvas.arrow([(336, 204), (350, 204)])
    canvas.arrow([(336, 64), (390, 64), (390, 142)], "c")
    canvas.text(342, 54, "as values", "c", 12, "start")
    canvas.text(255, 130, "as keys", "c", 12, "end")
    canvas.text(263, 260, "weights (2, 3)", "b")
    canvas.text(220, 296, "a row of the output for each query,", "m")
    canvas.text(220, 316, "a column of the weights for each key", "m")
    return canvas


PICTURES = {
    "s15": {
        "lookup": lookup,
        "backward": backward,
        "mask": mask,
        "heads": heads,
        "positions": positions,
        "block": block,
    },
    "s16": {"masks": both_masks, "cross": cross, "layer": layer},
}
