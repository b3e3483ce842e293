"""Pictures of stages s17 to s19: blocks, and models of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from illustrations.canvas import Canvas
from illustrations.diagrams import Box
from illustrations.plots import Axis, Frame, Table, ticks
from illustrations.references import reference

SENTENCE = ("the", "cat", "sat", "down")
START, END, FIRST = 0, 1, 2  # ids of the reversing model


def gelu() -> Canvas:
    """GELU and ReLU with their slopes."""
    s11 = reference("s11")
    z = np.linspace(-4, 4, 161)
    canvas = Canvas(270, "GELU and ReLU")
    for column, (title, ends, suffix) in enumerate(
        (("values", (-0.6, 3.4), ""), ("slopes", (-0.4, 1.4), "_derivative"))
    ):
        marks = ticks(0, 1, 2, 3) if not column else ticks(0, 0.5, 1)
        frame = Frame(
            canvas, 50 + 345 * column, 46, 295, 176, Axis(-4, 4, ticks(-4, -2, 0, 2, 4)), Axis(*ends, marks), title
        )
        frame.curve([-4, 4], [0, 0], "m", 1)
        for part in (z[z <= 0], z[z > 0]):
            frame.curve(part, getattr(s11, f"relu{suffix}")(part), "b", 2, "6 4")
        frame.curve(z, getattr(s11, f"gelu{suffix}")(z))
        y = 1.9 if not column else 0.62
        frame.label(-3.6, y, "GELU", "a")
        frame.label(-3.6, y - (0.4 if not column else 0.18), "ReLU (dashed)", "b")
    canvas.text(360, 258, "GELU is smooth: it dips below 0 on the left, and on the right its slope exceeds 1", "m", 12)
    return canvas


def norms() -> Canvas:
    """The two orders of norm, sublayer and addition."""
    canvas = Canvas(306, "Pre-LN and post-LN")
    orders = (
        ("pre-LN: the path from x to the output is additions only", ("norm1", "attention", "+", "norm2", "mlp", "+")),
        ("post-LN: each norm stands on the path itself", ("attention", "+", "norm1", "mlp", "+", "norm2")),
    )
    for row, (title, parts) in enumerate(orders):
        main, y = 112 + 158 * row, 60 + 158 * row
        canvas.text(24, main - 80, title, anchor="start", bold=True)
        x, end, before, branch = 92.0, (0.0, 0.0), (40.0, float(main)), 66.0
        canvas.text(28, main + 4, "x")
        for part in parts:
            on_path = part == "+" or (row == 1 and part.startswith("norm"))
            wide = 28 if part == "+" else 80
            if on_path:
                box = Box(canvas, x, main - 15, wide, 30, part, ink="m" if part == "+" else "c")
                canvas.arrow([before, box.left], "d", 2)
                before = box.right
                if part == "+":
                    canvas.arrow([end, (box.top[0], end[1]), box.top])
                branch = x + wide + 12
                x += wide + 26
            else:
                box = Box(canvas, x, y - 17, wide, 32, part, ink="c" if part.startswith("norm") else "a")
                start = end if row == 0 and not part.startswith("norm") else None
                canvas.arrow([start or (branch, main), *([] if start else [(branch, box.left[1])]), box.left])
                end = box.right
                x += wide + 20
        canvas.arrow([before, (before[0] + 44, main)], "d", 2)
        canvas.text(before[0] + 52, main + 4, "output", anchor="start")
    return canvas


def choosing() -> Canvas:
    """What temperature, top_k and top_p make of the same logits."""
    logits = np.array([[2.0, 1.0, 0.0, -1.0]])
    softmax = reference("s07").softmax
    plain = softmax(logits)[0]
    kept = np.where(np.arange(4) < 2, plain, 0)
    nucleus = np.where(np.arange(4) < 3, plain, 0)
    rows = (
        ("temperature 0.5", softmax(logits / 0.5)[0]),
        ("temperature 1", plain),
        ("temperature 2", softmax(logits / 2)[0]),
        ("top_k = 2", kept / kept.sum()),
        ("top_p = 0.9", nucleus / nucleus.sum()),
    )
    canvas = Canvas(270, "From the same logits, five distributions")
    canvas.text(20, 30, "logits 2, 1, 0, −1", anchor="start", bold=True)
    for row, (name, shares) in enumerate(rows):
        y, x = 48 + 42 * row, 160.0
        canvas.text(20, y + 20, name, anchor="start")
        for token, share in enumerate(shares):
            wide = 530 * float(share)
            if wide:
                canvas.rect(x, y, wide, 30, "abcd"[token], 0.4)
                canvas.outline(x, y, wide, 30, "p", 1.5)
            if wide > 40:
                canvas.text(x + wide / 2, y + 20, f"{share:.2f}", size=12)
            x += wide
    for token in range(4):
        canvas.rect(330 + 95 * token, 20, 13, 13, "abcd"[token], 0.4)
        canvas.text(350 + 95 * token, 31, f"token {token}", "m", 12, "start")
    return canvas


def _reverser() -> Any:
    """Return a small Transformer that has learnt to write four words in reverse: 90 steps of Adam."""
    s05, s19 = reference("s05"), reference("s19")
    rng, size = np.random.default_rng(0), 8
    model = s19.Transformer(size, size, 5, 1, 24, 1, mlp_ratio=1.0, rng=rng)
    params: dict[str, Any] = dict(model.params)
    state: dict[str, Any] = {}
    for step in range(1, 121):
        words = rng.integers(FIRST, size, size=(16, 4))
        ends = np.full((16, 1), END)
        answers = np.concatenate([words[:, ::-1], ends], axis=1)
        logits = model.forward(np.concatenate([words, ends], axis=1), s19.shift_right(answers, START))
        model.backward(s19.label_smoothing_gradient(logits, answers, 0.1))
        rate = 0.03 * min(1, step / 10) * (1 - 0.9 * step / 120)
        params, state = s05.adam_step(params, model.grads, state, learning_rate=rate, beta2=0.98)
        model.set_params(params)
    return model


def alignment() -> Canvas:
    """Whom each written word attends to in a model that reverses its source."""
    model = _reverser()
    source = np.array([[*range(FIRST, FIRST + 4), END]])
    target = np.array([[START, *range(FIRST + 3, FIRST - 1, -1)]])
    logits = model.forward(source, target)
    written = [("", "(end)", *SENTENCE)[token] for token in logits[0].argmax(axis=-1)]
    weights = model.decoder_blocks[0].cross_attention.attention_weights[0, 0]
    canvas = Canvas(330, "Alignment of a model that writes its source in reverse")
    Table(canvas, 140, 74, 64, weights, ".2f", title="source", columns=(*SENTENCE, "(end)"), rows=written, tall=44)
    canvas.text(20, 190, "written", anchor="start", bold=True)
    for row, line in enumerate(
        ("Each row is a word that the", "decoder writes: its weights", "on the words of the source.")
    ):
        canvas.text(486, 120 + 18 * row, line, anchor="start")
    for row, line in enumerate(
        (
            "Nobody told the model where",
            "to look: that the last word",
            "comes first was learnt, from",
            "pairs of sequences alone.",
        )
    ):
        canvas.text(486, 196 + 18 * row, line, "m", 12, "start")
    return canvas


PICTURES = {"s17": {"gelu": gelu, "norms": norms}, "s18": {"choosing": choosing}, "s19": {"alignment": alignment}}
