"""Pictures of stages s17 to s19: blocks, and models of them."""

from __future__ import annotations

import functools
from itertools import pairwise
from typing import Any

import numpy as np

from drawings.s18 import steps as training
from illustrations.canvas import NARROW, Canvas
from illustrations.diagrams import Box
from illustrations.plots import Axis, Frame, Table, ticks, written
from illustrations.references import data, reference

SENTENCE = ("the", "cat", "sat", "down")
START, END, FIRST = 0, 1, 2  # ids of the reversing model


def gelu() -> Canvas:
    """What share of x ReLU and GELU let through, and what comes out."""
    s11 = reference("s11")
    z = np.linspace(-4, 4, 161)
    canvas = Canvas(528, "GELU multiplies x by a probability", NARROW)
    panels = (
        ("the share of x that passes", (-0.2, 1.2), (0, 0.5, 1)),
        ("what passes", (-0.6, 3.4), (0, 1, 2, 3)),
    )
    for row, (title, ends, marks) in enumerate(panels):
        across = Axis(-4, 4, ticks(-4, -2, 0, 2, 4))
        frame = Frame(canvas, 44, 40 + 236 * row, 382, 170, across, Axis(*ends, ticks(*marks)), title)
        frame.curve([-4, 4], [0, 0], "m", 1)
        for part in (z[z < 0], z[z > 0]):
            over = 1 if row else part
            frame.curve(part, s11.relu(part) / over, "b", 2, "6 4")
            frame.curve(part, s11.gelu(part) / over)
        if row == 0:
            frame.label(-0.75, 0.33, "GELU: a little, by and by", "a", "end", 11)
            frame.label(0.15, 1.06, "ReLU: all or nothing", "b")
    canvas.text(235, 512, "GELU = x · Φ(x): no corner, and a dip below 0", "m", 12)
    return canvas


def normalised() -> Canvas:
    """Two tokens of very different size, before and after layer normalisation."""
    x = np.array([[2.0, 4.0, 6.0], [300.0, 100.0, 200.0]])
    z = reference("s17").LayerNorm(3).forward(x[None])[0]
    canvas = Canvas(368, "Layer normalisation, token by token", NARROW)
    for row in range(2):
        for column, (values, most, name) in enumerate(((x[row], x[row].max(), "x"), (z[row], 1.5, "normalised"))):
            left, base = 40 + 216 * column, 140 + 166 * row - 40 * column
            canvas.text(left + 84, 24 + 166 * row, f"token {row}: {name}", bold=True)
            canvas.path([(left, base), (left + 168, base)], "m", 1.2)
            for feature, value in enumerate(values):
                high = float(value / most) * (46 if column else 90)
                x_ = left + 16 + 52 * feature
                canvas.rect(x_, base - max(high, 0), 34, abs(high), "ac"[column], 0.62)
                up = base - high - 6 if high >= 0 else base - high + 15
                canvas.text(x_ + 17, up, written(value, ".3g" if column else "g"), size=12)
        canvas.arrow([(210, 96 + 166 * row), (248, 96 + 166 * row)])
    canvas.text(220, 350, "level and size go; what stands out still stands out", "m", 12)
    return canvas


def norms() -> Canvas:
    """The two orders of norm, sublayer and addition, as two ways upwards."""
    canvas = Canvas(486, "Pre-LN and post-LN", NARROW)
    orders = (
        ("pre-LN", ("norm1", "attention", "+", "norm2", "mlp", "+")),
        ("post-LN", ("attention", "+", "norm1", "mlp", "+", "norm2")),
    )
    for column, (title, parts) in enumerate(orders):
        path, y = 60 + 216 * column, 58
        canvas.text(100 + 216 * column, 22, title, bold=True)
        canvas.text(path - 14, y + 2, "x", size=15)
        before, branch = (float(path), y - 12.0), (float(path), y + 8.0)
        for part in parts:
            if part == "+" or (column and part.startswith("norm")):
                wide = 26 if part == "+" else 68
                y += 22 if part == "+" else 12
                box = Box(canvas, path - wide / 2, y, wide, 26, part, ink="m" if part == "+" else "c")
                canvas.arrow([before, box.top], "d", 2.5)
                if part == "+":
                    canvas.arrow([branch, (branch[0], box.right[1]), box.right])
                before = box.bottom
                branch = (float(path), y + 38.0)
                y += 44
            else:
                box = Box(canvas, path + 42, y + 12, 82, 34, part, ink="c" if part.startswith("norm") else "a")
                if branch[0] == path:
                    canvas.arrow([branch, (box.top[0], branch[1]), box.top])
                else:
                    canvas.arrow([branch, box.top])
                branch = box.bottom
                y += 54
        canvas.arrow([before, (path, 432)], "d", 2.5)
        canvas.text(path, 450, "output")
    canvas.text(220, 474, "pre-LN: no norm on the path from x to the output", "m", 12)
    return canvas


def choosing() -> Canvas:
    """What temperature, top_k and top_p make of the same logits."""
    logits = np.array([[2.0, 1.0, 0.0, -1.0]])
    softmax = reference("s07").softmax
    plain = softmax(logits)[0]
    kept = np.where(np.arange(4) < 2, plain, 0)
    nucleus = np.where(np.arange(4) < 3, plain, 0)
    rows = (
        ("temperature 2", softmax(logits / 2)[0]),
        ("temperature 1", plain),
        ("temperature 0.5", softmax(logits / 0.5)[0]),
        ("top_k = 2", kept / kept.sum()),
        ("top_p = 0.9", nucleus / nucleus.sum()),
    )
    canvas = Canvas(300, "From the same logits, five distributions", NARROW)
    canvas.text(14, 28, "logits 2, 1, 0, −1", anchor="start", bold=True)
    for row, (name, shares) in enumerate(rows):
        y, x = 74 + 44 * row, 128.0
        canvas.text(14, y + 20, name, anchor="start", size=12)
        for token, share in enumerate(shares):
            wide = 298 * float(share)
            if wide:
                canvas.rect(x, y, wide, 30, "abcd"[token], 0.4)
                canvas.outline(x, y, wide, 30, "p", 1.5)
            if wide > 34:
                canvas.text(x + wide / 2, y + 20, f"{share:.2f}", size=12)
            if row == 0:
                canvas.text(x + wide / 2, y - 8, f"{token}", "abcd"[token], bold=True)
            x += wide
    canvas.text(14, 66, "token", size=12, anchor="start", bold=True)
    return canvas


def example_gpt() -> Any:
    """Return the GPT of the worked example in s18's README: its one block hands x on."""
    model = reference("s18").GPT(3, 2, 1, 3, 1, np.random.default_rng(0))
    params = {name: np.zeros_like(value) for name, value in model.params.items()}
    params["token_embedding"] = np.array([[1.0, 2, 3], [0, 1, -1], [1, 0, 0]])
    params["position_embedding"] = np.array([[1.0, 2, 3], [2, -1, 1]])
    model.params = {name: np.ones_like(x) if name.endswith("gamma") else x for name, x in params.items()}
    return model


def gpt() -> Canvas:
    """The whole GPT, and what the first position of the worked example becomes in it."""
    model = example_gpt()
    logits = model.forward(np.array([[0, 1]]))[0, 0]
    embedded = model.params["token_embedding"][0] + model.params["position_embedding"][0]
    shares = reference("s07").softmax(logits[None])[0]
    canvas = Canvas(506, "The whole GPT, from ids to the next token", NARROW)
    canvas.text(352, 20, "position 0", "m", bold=True)
    parts = (
        (34, "ids", "", "m", "0"),
        (100, "E[ids] + positions", "a row of each table", "a", listed(embedded)),
        (176, "block 0, block 1, …", "attention, MLP; each added", "d", listed(embedded)),
        (252, "norm", "once, at the end", "c", listed(np.linalg.solve(model.params["token_embedding"], logits))),
        (328, "logits = hidden Eᵀ", "the same table again", "a", listed(logits)),
        (404, "softmax", "what comes next?", "b", listed(shares)),
    )
    before = None
    for y, name, more, ink, value in parts:
        box = Box(canvas, 66, y, 194, 50 if more else 34, name, more, ink)
        canvas.text(352, box.left[1] + 5, value)
        if before:
            canvas.arrow([before.bottom, box.top])
        before = box
    canvas.rect(14, 104, 22, 270, "b", 0.2, 4)
    canvas.outline(14, 104, 22, 270, "b", 1.3, 4)
    canvas.text(25, 244, "E", "b", 15, bold=True)
    for y in (125, 353):
        canvas.arrow([(36, y), (64, y)], "b", 2)
    canvas.text(220, 486, "E is used twice: for the input, and for the scores", "m", 12)
    return canvas


def listed(values: Any) -> str:
    """Return numbers with two decimals at most, side by side."""
    return ", ".join(written(round(float(value), 2)) for value in values)


def tied() -> Canvas:
    """The gradient of the token embedding: from the scores, from the look-up, and their sum."""
    found = tied_gradients()
    canvas = Canvas(404, "One table, two gradients", NARROW)
    for row, (name, ink, told) in enumerate(
        (
            ("from the scores", "aa", ("each token is scored", "at each place")),
            ("from the look-up", "cc", ("ids 0 and 1", "were looked up")),
            ("sum: the gradient of E", "bb", ("row 2 was not looked up,", "and learns all the same")),
        )
    ):
        y = 36 + 126 * row
        Table(canvas, 58, y, 52, found[row], ".2f", inks=ink, most=0.8, tall=28, rows=("E[0]", "E[1]", "E[2]"))
        canvas.text(58, y - 10, name, anchor="start", bold=True)
        for line, words in enumerate(told):
            canvas.text(234, y + 38 + 18 * line, words, "m", 13, "start")
        if row:
            canvas.text(26, y - 22, "=" if row == 2 else "+", size=20)
    return canvas


def tied_gradients() -> tuple[Any, Any, Any]:
    """Return the gradients of E in the worked example: of the scores, of the look-up, and the whole one."""
    model, s18 = example_gpt(), reference("s18")
    ids, targets = np.array([[0, 1]]), np.array([[1, 2]])
    logits = model.forward(ids)
    _, grad = s18.cross_entropy_loss(logits, targets)
    model.backward(grad)
    whole = model.grads["token_embedding"]
    hidden = np.linalg.solve(model.params["token_embedding"], logits[0].T).T
    scores = grad[0].T @ hidden
    return scores, whole - scores, whole


def cache() -> Canvas:
    """What is computed to write six tokens, without a cache and with one."""
    canvas = Canvas(312, "What is computed to write six tokens", NARROW)
    for column, title in enumerate(("without a cache", "with a cache")):
        left = 34 + 212 * column
        total = 0
        canvas.text(left + 90, 26, title, bold=True)
        for step in range(6):
            for place in range(step + 1):
                new = column == 0 or place == step
                total += new
                x, y = left + 30 * place, 42 + 30 * step
                canvas.rect(x, y, 26, 26, "b" if new else "a", 0.75 if new else 0.25, 3)
        canvas.text(left + 90, 254, f"{total} computed", "b", 15, bold=True)
    canvas.text(336, 274, f"{sum(range(6))} keys and values kept", "a", 12)
    canvas.text(220, 300, "a row for each token that is written", "m", 12)
    return canvas


SUBJECT = ("the", "dogs", "near", "the", "old", "barn")


@functools.cache
def barn_heads() -> tuple[Any, dict[str, float]]:
    """Train the GPT of `explore`; return what each head sees from the last word, and the shares of the next words."""
    s18 = reference("s18")
    known = dict(training.start(None, 0, {"sentences.txt": data("s18", "sentences.txt")}))
    words, ids = known["words"], known["ids"]
    model = s18.GPT(len(words), ids.shape[1], 1, training.DIM, training.HEADS, np.random.default_rng(0))
    training.train(s18, {**known, "model": model})
    logits = model.forward(np.array([[words.index(word) for word in SUBJECT]]))
    shares = reference("s07").softmax(logits[0, -1:])[0]
    return model.blocks[0].attention_weights[0, :, -1], dict(zip(words, shares.tolist(), strict=True))


def subject() -> Canvas:
    """Where the four heads of a trained GPT look from the last word, before they say the verb."""
    weights, shares = barn_heads()
    canvas = Canvas(302, "From barn back to dogs: the heads of a trained GPT", NARROW)
    rows = tuple(f"head {head}" for head in range(4))
    table = Table(canvas, 74, 92, 58, weights, ".2f", inks="aa", most=1, columns=SUBJECT, rows=rows, tall=34)
    for head in np.flatnonzero(weights[:, 1] > 0.9):
        table.mark(int(head), 1)
    canvas.arrow([(393, 70), (393, 48), (161, 48), (161, 70)], "b", 2)
    canvas.text(277, 38, "the verb to come needs its noun", "b")
    canvas.text(74, 258, f"bark {shares['bark']:.2f}, barks {shares['barks']:.2f}", anchor="start", bold=True)
    canvas.text(252, 258, "as the next word", "m", anchor="start")
    canvas.text(74, 284, "each row: weights of the last word, barn; sum 1", "m", 12, "start")
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


def aligned() -> tuple[list[str], Any]:
    """Return what the reversing model writes, and the weights of each written word on those of the source."""
    model = _reverser()
    source = np.array([[*range(FIRST, FIRST + 4), END]])
    target = np.array([[START, *range(FIRST + 3, FIRST - 1, -1)]])
    logits = model.forward(source, target)
    written_words = [("", "(end)", *SENTENCE)[token] for token in logits[0].argmax(axis=-1)]
    return written_words, model.decoder_blocks[0].cross_attention.attention_weights[0, 0]


def alignment() -> Canvas:
    """Whom each written word attends to in a model that reverses its source."""
    rows, weights = aligned()
    canvas = Canvas(430, "Alignment of a model that writes its source in reverse", NARROW)
    columns = (*SENTENCE, "(end)")
    Table(canvas, 76, 74, 68, weights, ".2f", title="source", columns=columns, rows=rows, tall=40)
    canvas.text(8, 48, "written", anchor="start", bold=True)
    for row, line in enumerate(
        (
            "Each row is a word that the decoder writes: its weights",
            "on the words of the source.",
            "Nobody told the model where to look: that the last word",
            "comes first was learnt, from pairs of sequences alone.",
        )
    ):
        canvas.text(14, 316 + 22 * row + 12 * (row > 1), line, "m" if row > 1 else "t", 12, "start")
    return canvas


def halves() -> Canvas:
    """The two halves of a Transformer: the source is read once, and every decoder block asks its memory."""
    canvas = Canvas(424, "Encoder and decoder", NARROW)
    left = [
        Box(canvas, 14, y, 160, 40, words, ink=ink)
        for y, words, ink in ((340, "source + positions", "m"), (200, "encoder blocks", "a"), (76, "memory", "b"))
    ]
    right = [
        Box(canvas, 236, y, 190, 40, words, ink=ink)
        for y, words, ink in (
            (340, "target + positions", "m"),
            (270, "causal self-attention", "a"),
            (200, "cross-attention", "b"),
            (130, "MLP", "d"),
            (60, "norm, readout", "c"),
        )
    ]
    for parts in (left, right):
        for start, end in pairwise(parts):
            canvas.arrow([start.top, end.bottom])
    canvas.arrow([left[2].right, (204, 96), (204, 220), right[2].left], "b", 2)
    canvas.text(196, 176, "K, V", "b", anchor="end")
    canvas.outline(226, 122, 210, 196, "m", 1, 6, "4 3")
    canvas.arrow([right[4].top, (331, 34)])
    canvas.text(331, 24, "logits of the next token")
    canvas.text(94, 410, "read once", "m")
    canvas.text(331, 410, "once for each token written", "m", 12)
    canvas.text(196, 276, "depth", "m", 12, "end")
    canvas.text(196, 292, "times", "m", 12, "end")
    canvas.path([(200, 280), (224, 280)], "m", 1)
    return canvas


def shifted() -> Canvas:
    """What the decoder reads and is to say in training: the answer, and the answer one place late."""
    answer = np.array([[7, 8, 9, END]])
    reads = reference("s19").shift_right(answer, START)[0]
    canvas = Canvas(236, "The decoder reads the answer one place late", NARROW)
    names = {START: "start", END: "end"}
    for y, title, row, ink in ((40, "is to say", answer[0], "b"), (156, "reads", reads, "a")):
        canvas.text(14, y + 25, title, anchor="start", bold=True)
        for place, token in enumerate(row.tolist()):
            x = 108 + 82 * place
            canvas.rect(x, y, 66, 40, ink, 0.25, 5)
            canvas.outline(x, y, 66, 40, ink, 1.3, 5)
            canvas.text(x + 33, y + 25, names.get(token, str(token)), size=14)
            if y > 100:
                for seen in range(place + 1):
                    canvas.arrow([(141 + 82 * seen, y), (x + 33, 84)], "m", 0.8 + (seen == place))
    canvas.text(224, 222, "each place sees only what stands before its answer", "m", 12)
    canvas.text(224, 24, "all places are trained in one pass", "m", 12)
    return canvas


NEXT = np.array([[0.05, 0.05, 0.5, 0.4], [0.25] * 4, [0.2, 0.4, 0.2, 0.2], [0.05, 0.85, 0.05, 0.05]])


def searched(beam_size: int) -> list[int]:
    """Return what beam search finds with the probabilities of the README's example."""
    tokens, _ = reference("s19").beam_search(
        lambda prefix: np.log(NEXT[int(prefix[-1])]), START, END, beam_size, max_length=2, alpha=0.0
    )
    return [int(token) for token in tokens]


def beam() -> Canvas:
    """The tree of the first two tokens: what greedy search takes, and what a beam of two finds."""
    wide = searched(2)
    canvas = Canvas(356, "Greedy search and a beam of two", NARROW)
    start = Box(canvas, 14, 150, 66, 40, "start", ink="m")
    for token, y in ((2, 80), (3, 230), (0, 20), (1, 310)):
        first = float(NEXT[START, token])
        kept = token in (2, 3)
        name = "end" if token == END else str(token)
        box = Box(canvas, 164, y, 90, 36, f"{name}: {written(first)}", ink="a" if kept else "m")
        canvas.arrow([start.right, box.left], "t" if kept else "m", 2 if kept else 1, "" if kept else "3 3")
        if not kept:
            canvas.text(262, y + 22, "not kept", "m", 12, "start")
            continue
        share = first * float(NEXT[token, END])
        best = [token] == wide
        end = Box(
            canvas,
            316,
            y - 5,
            112,
            46,
            f"end: {written(share, '.2f')}",
            "beam of two" if best else "greedy",
            "b" if best else "a",
        )
        canvas.arrow([box.right, end.left], "b" if best else "t", 2.5 if best else 2)
        canvas.text(285, y + 8, f"· {written(NEXT[token, END])}", size=12)
    return canvas


PICTURES = {
    "s17": {"normalised": normalised, "gelu": gelu, "norms": norms},
    "s18": {"gpt": gpt, "tied": tied, "cache": cache, "choosing": choosing, "subject": subject},
    "s19": {"halves": halves, "shifted": shifted, "alignment": alignment, "beam": beam},
}
