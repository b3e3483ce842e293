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
    allowed_ = s15.create_causal_mask(3)
    masked = s15.apply_attention_mask(scores, allowed_, -np.inf)
    canvas = Canvas(228, "A causal mask acts before the softmax", NARROW)
    places = (
        (62, scores, "g", "scores"),
        (196, masked, "g", "masked"),
        (330, s15.attention_weights(masked), ".2f", "weights"),
    )
    for x, values, form, title in places:
        rows = tuple(f"query {i}" for i in range(3)) if x == 62 else ()
        most = 1 if x == 330 else 3
        table = Table(canvas, x, 62, 34, values, form, most=most, title=title, columns=tuple("012"), rows=rows)
        for i, j in np.argwhere(~allowed_):
            if x == 196:
                canvas.outline(*table.corner(i, j), 34, 34, "b", 1.5, dash="4 3")
    canvas.text(8, 54, "key", "m", 12, "start")
    canvas.arrow([(167, 113), (193, 113)])
    canvas.arrow([(301, 113), (327, 113)])
    canvas.text(180, 186, "mask", "m")
    canvas.text(314, 186, "softmax", "m")
    canvas.text(426, 216, "each row of the weights sums to 1", "m", 12, "end")
    return canvas


def heads() -> Canvas:
    """The features of each token are cut among the heads; each head has weights of its own."""
    s15 = reference("s15")
    x = np.array([[1, 0, 0, 1], [0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 1, 0]], float) * 2
    split = s15.split_heads(x[None], 2)
    _, weights = s15.scaled_dot_product_attention(split, split, split)
    canvas = Canvas(336, "Heads: each attends with its own features", NARROW)
    tokens = tuple(f"token {i}" for i in range(4))
    whole = Table(canvas, 62, 112, 28, x, "g", title="x (4, 4)", rows=tokens, inks="aa", most=4)
    whole.mark(0, 0, 4, 2, "a")
    whole.mark(0, 2, 4, 2, "b")
    agree = ("0 and 2 agree, 1 and 3", "0 and 1 agree, 2 and 3")
    for head, (ink, y) in enumerate((("a", 34), ("b", 196))):
        part = Table(canvas, 226, y, 26, split[0, head], "g", title=f"head {head}", inks=ink * 2, most=4)
        part.mark(0, 0, 4, 2, ink)
        canvas.arrow([(178, 150 + 36 * head), (220, y + 52)])
        Table(canvas, 326, y, 26, weights[0, head], "", title="weights", inks=ink * 2, most=0.9)
        canvas.arrow([(282, y + 52), (322, y + 52)])
        canvas.text(426, y + 122, f"tokens {agree[head]}", "m", 12, "end")
    return canvas


def positions() -> Canvas:
    """The sinusoidal encoding as an image: fast columns on the left, slow ones on the right."""
    encoding = reference("s15").sinusoidal_encoding(48, 32)
    canvas = Canvas(436, "The sinusoidal encoding of 48 positions in 32 columns", NARROW)
    left, top, wide, high = 46, 40, 12, 6
    Table(canvas, left, top, wide, encoding, inks="ab", most=1.0, tall=high)
    for position in (0, 10, 20, 30, 40):
        canvas.text(left - 8, top + position * high + 7, str(position), "m", 12, "end")
    for column in (0, 8, 16, 24, 31):
        canvas.text(left + (column + 0.5) * wide, top + 48 * high + 16, str(column), "m", 12)
    canvas.text(left + 16 * wide, top + 48 * high + 34, "column: sin and cos by turns", "m", 12)
    canvas.text(8, 26, "position", "m", 12, "start")
    for place, (ink, share, words) in enumerate(
        (("b", 1.0, "−1"), ("b", 0.4, ""), ("a", 0.0, "0"), ("a", 0.4, ""), ("a", 1.0, "1"))
    ):
        canvas.rect(270 + 28 * place, 12, 28, 14, ink, 0.62 * share)
        canvas.text(284 + 28 * place, 37, words, "m", 11)
    canvas.outline(270, 12, 140, 14, "m")
    canvas.text(left, 400, "left: fast clock hands, which tell neighbours apart", anchor="start", size=12)
    canvas.text(left, 422, "right: slow ones, which tell near from far", anchor="start", size=12)
    return canvas


def block() -> Canvas:
    """The encoder block of 2017: attention and feed-forward network, each with residual and norm."""
    canvas = Canvas(516, "The encoder block", NARROW)
    parts, y = [], 50.0
    for words, more, ink, high in (
        ("attention", "Q, K, V all of x", "a", 52),
        ("+", "", "m", 30),
        ("layer_norm", "γ₁, β₁", "c", 52),
        ("feed_forward", "W1, b1, W2, b2", "b", 52),
        ("+", "", "m", 30),
        ("layer_norm", "γ₂, β₂", "c", 52),
    ):
        wide = 30 if words == "+" else 136
        parts.append(Box(canvas, 140 - wide / 2, y, wide, high, words, more, ink))
        y += high + (50 if words == "layer_norm" else 22)
    before = (140.0, 12.0)
    for part in parts:
        canvas.arrow([before, part.top])
        before = part.bottom
    canvas.arrow([before, (140, before[1] + 40)])
    canvas.text(128, 26, "x", anchor="end", size=15)
    canvas.text(128, parts[2].bottom[1] + 26, "h", anchor="end", size=15)
    canvas.text(128, before[1] + 28, "output", anchor="end")
    for start, end, name in ((24.0, 1, "x"), (parts[2].bottom[1] + 20, 4, "h")):
        to = parts[end].right
        canvas.arrow([(140, start), (236, start), (236, to[1]), to], "d", 2)
        canvas.text(246, (start + to[1]) / 2 + 4, f"residual: {name} goes past", "d", 12, "start")
    canvas.text(246, 480, "output and x have one", "m", 12, "start")
    canvas.text(246, 498, "shape: blocks stack", "m", 12, "start")
    return canvas


def layer() -> Canvas:
    """The way through the layer, and the ten steps of its backward pass."""
    canvas = Canvas(424, "The attention layer, forward and backward", NARROW)
    rows = (
        ("query_input", "W_Q", "Q", "10", "7"),
        ("key_input", "W_K", "K", "9", "6"),
        ("value_input", "W_V", "V", "8", "4"),
    )
    ends = []
    for row, (given, weights, name, step, before) in enumerate(rows):
        y = 34 + 84 * row
        canvas.text(14, y - 8, given, anchor="start", size=12)
        product = Box(canvas, 46, y, 92, 44, f"× {weights}", f"step {step}", "d")
        split = Box(canvas, 166, y, 96, 44, name, f"split · step {before}")
        canvas.arrow([(14, y + 22), product.left])
        canvas.arrow([product.right, split.left])
        ends.append(split)
    scores = Box(canvas, 306, 74, 122, 46, "S = QKᵀ·scale", "mask · step 5", "b")
    shares = Box(canvas, 306, 150, 122, 46, "A = softmax(S)", "step 3", "b")
    output = Box(canvas, 306, 236, 122, 46, "O = A V", "step 2", "b")
    mixed = Box(canvas, 306, 312, 122, 46, "× W_O", "join · step 1", "d")
    canvas.arrow([ends[0].right, (284, 56), (284, 90), (306, 90)])
    canvas.arrow([ends[1].right, (284, 140), (284, 104), (306, 104)])
    canvas.arrow([scores.bottom, shares.top])
    canvas.arrow([shares.bottom, output.top])
    canvas.arrow([ends[2].right, (284, 224), (284, 259), output.left])
    canvas.arrow([output.bottom, mixed.top])
    canvas.arrow([mixed.bottom, (367, 388)])
    canvas.text(367, 404, "output")
    for line, words in enumerate(
        (
            "Arrows: forward.",
            "Backward goes against them, step 1",
            "first; each gradient is left where",
            "its number stands.",
        )
    ):
        canvas.text(14, 330 + 19 * line, words, "m", 12, "start")
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
