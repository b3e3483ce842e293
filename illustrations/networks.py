"""Pictures of stages s10 to s14: tokens, activations, and networks with and without memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from illustrations.canvas import NARROW, Canvas
from illustrations.diagrams import Box
from illustrations.plots import Axis, Frame, Table, ticks, written
from illustrations.references import reference

TEXT = "aaabdaaabac"
IMAGE = np.array([[1.0, 2.0, 0.0], [0.0, 3.0, 1.0], [2.0, 1.0, 4.0]])  # the example of s13's README
KERNEL = np.array([[1.0, 0.0], [2.0, -1.0]])
KINDS = ("relu", "leaky_relu", "elu", "tanh", "softplus", "swish", "gelu", "mish")


def merges() -> Canvas:
    """Byte pair encoding: after each merge the text takes fewer tokens."""
    s10 = reference("s10")
    found = s10.byte_pair_merges(TEXT, 10)
    canvas = Canvas(270, "Byte pair encoding, merge by merge", NARROW)
    pieces = {byte: chr(byte) for byte in range(256)}
    for row in range(len(found) + 1):
        y = 30 + 64 * row
        if row:
            first, second = found[row - 1]
            pieces[255 + row] = pieces[first] + pieces[second]
        ids = [int(each) for each in s10.bpe_encode(TEXT, found[:row])]
        x = 14.0
        for each in ids:
            wide = 37 * len(pieces[each]) - 4
            ink = "m" if each < 256 else "abc"[each - 256]
            canvas.rect(x, y, wide, 30, ink, 0.22, 4)
            canvas.outline(x, y, wide, 30, ink, 1.3, 4)
            canvas.text(x + wide / 2, y + 20, pieces[each] if each < 256 else f"{pieces[each]} = {each}", size=12)
            x += wide + 4
        name = f"{pieces[found[row - 1][0]]} + {pieces[found[row - 1][1]]} → {255 + row}" if row else "bytes"
        canvas.text(14, y - 8, name, anchor="start")
        canvas.text(424, y - 8, f"{len(ids)} tokens", "m", 12, "end")
    return canvas


def rows_of_a_table() -> Canvas:
    """Ids pick rows of the embedding table, one of them twice."""
    table = np.array([[1.0, 2], [3, 4], [5, 6]])
    ids = np.array([2, 0, 2])
    found = reference("s10").embedding_forward(ids, table)
    canvas = Canvas(226, "An embedding picks rows of a table", NARROW)
    for place, token in enumerate(ids.tolist()):
        y = 70 + 40 * place
        canvas.outline(14, y, 40, 32, "m", 1.3, 4)
        canvas.text(34, y + 21, str(token), size=15)
        canvas.arrow([(56, y + 16), (158, 86 + 40 * token)], "ab"[token == 2], 1.8)
        canvas.arrow([(254, 86 + 40 * token), (324, y + 16)], "ab"[token == 2], 1.8)
    canvas.text(34, 42, "ids", bold=True)
    Table(canvas, 164, 66, 42, table, "g", most=9, title="table", rows=(), tall=40)
    Table(canvas, 330, 66, 42, found, "g", most=9, title="output", tall=40)
    canvas.text(220, 214, "id 2 stands twice, and its row is taken twice", "m")
    return canvas


SENTENCE = ("the", "dogs", "often", "bark", "here")


def neighbours() -> Canvas:
    """The window of skip-gram: the pairs of one centre with its neighbours."""
    pairs = reference("s10").skip_gram_pairs(np.arange(5), 1).tolist()
    canvas = Canvas(222, "Skip-gram pairs with a window of 1", NARROW)
    for row, centre in enumerate((1, 2, 3)):
        y = 34 + 64 * row
        for place, word in enumerate(SENTENCE):
            x = 14 + 62 * place
            ink = "b" if place == centre else ("a" if [centre, place] in pairs else "g")
            canvas.rect(x, y, 56, 32, ink, 0.35 if ink != "g" else 0.5, 4)
            canvas.text(x + 28, y + 21, word, "m" if ink == "g" else "t")
        told = [SENTENCE[context] for first, context in pairs if first == centre]
        for line, context in enumerate(told):
            canvas.text(330, y + 12 + 19 * line, f"{SENTENCE[centre]}, {context}", anchor="start")
    for place, name in enumerate(("context", "centre", "context")):
        canvas.text(48 + 62 * place, 20, name, "ab"[place % 2], 12)
    canvas.text(330, 20, "pairs", anchor="start", size=12, bold=True)
    return canvas


def curves() -> Canvas:
    """Eight activations with their slopes; leaky_relu with a slope that can be seen."""
    s11 = reference("s11")
    z = np.linspace(-4, 4, 161)
    canvas = Canvas(764, "Activations and their slopes", NARROW)
    for place, name in enumerate(KINDS):
        x, y = 34 + 212 * (place % 2), 36 + 176 * (place // 2)
        more = {"alpha": 0.1} if name == "leaky_relu" else {}
        title = f"{name}, alpha 0.1" if more else name
        across = Axis(-4, 4, ticks(-4, -2, 0, 2, 4))
        frame = Frame(canvas, x, y, 180, 120, across, Axis(-1.5, 4, ticks(-1, 0, 1, 2, 3, 4)), title)
        frame.curve([-4, 4], [0, 0], "m", 1)
        kinked = name in ("relu", "leaky_relu")
        parts = (z[z <= 0], z[z > 0]) if kinked else (z,)
        for part in parts:
            frame.curve(part, getattr(s11, f"{name}_derivative")(part, **more), "b", 1.8, "5 3")
        frame.curve(z, getattr(s11, name)(z, **more))
        if place == 0:
            frame.label(2.5, 3.1, "value", "a", "end")
            frame.label(3.9, 1.25, "slope", "b", "end")
    canvas.text(220, 744, "where the slope is near 0, a unit learns little", "m", 12)
    return canvas


def perceptron() -> Canvas:
    """The line of a perceptron after each epoch on OR, until all four corners are right."""
    s11 = reference("s11")
    corners, labels = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 1])
    canvas = Canvas(520, "A perceptron learns OR", NARROW)
    for place in range(4):
        weights, bias, errors = s11.perceptron_train(corners, labels, 1.0, place + 1)
        x, y = 30 + 212 * (place % 2), 40 + 246 * (place // 2)
        axis = Axis(-0.6, 1.6, ticks(0, 1))
        frame = Frame(canvas, x, y, 180, 160, axis, axis, f"epoch {place + 1}: {errors[-1]:.0f} wrong")
        frame.regions(lambda points, w=weights, b=bias: s11.perceptron_predict(points, w, b), 40, "ab", 0.2)  # type: ignore[misc]
        for corner, label in zip(corners, labels, strict=True):
            if label:
                frame.points(corner[:1], corner[1:], "b", 6)
            else:
                canvas.ring(*frame.at(*corner), "a", 6, 2.5)
        said = f"w = ({written(weights[0])}, {written(weights[1])}), b = {written(bias)}"
        canvas.text(x + 90, y + 196, said, "m", 12)
    canvas.text(220, 510, "orange side: answers 1; full dots: should be 1", "m")
    return canvas


def xor() -> Canvas:
    """XOR in the plane of its bits, and in that of two hidden units, where a line separates it."""
    corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], float)
    answers = reference("s11").xor_network(corners).round().astype(int)
    hidden = np.column_stack([np.maximum(corners.sum(1), 0), np.maximum(corners.sum(1) - 1, 0)])
    canvas = Canvas(536, "XOR before and after a hidden layer", NARROW)
    names = (("x₁", "x₂", "the bits: no line separates 1 from 0"), ("h₁", "h₂", "two hidden units: a line does"))
    for column, points in enumerate((corners, hidden)):
        low, high, title = names[column]
        across, up = Axis(-0.5, 2.5, ticks(0, 1, 2), low), Axis(-0.5, 1.5, ticks(0, 1), high)
        frame = Frame(canvas, 50, 40 + 262 * column, 376, 180, across, up, title)
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


def network() -> Canvas:
    """The network of s12's README, with what the sample [1, 0] becomes in each neuron."""
    s12 = reference("s12")
    rng = np.random.default_rng(0)
    first, second = s12.Dense(2, 2, "tanh", rng), s12.Dense(2, 2, "linear", rng)
    first.params = {"weights": np.array([[1.0, -0.5], [0.5, 1.0]]), "bias": np.array([0.0, 0.5])}
    second.params = {"weights": np.array([[2.0, 0.0], [-1.0, 1.0]]), "bias": np.array([1.0, -1.0])}
    x = np.array([[1.0, 0.0]])
    columns = [x[0], first.forward(x)[0], s12.NeuralNetwork([first, second]).forward(x)[0]]
    canvas = Canvas(322, "Two layers of two neurons", NARROW)
    for column, (left, title) in enumerate(((60, "input"), (220, "tanh"), (380, "scores"))):
        canvas.text(left, 24, title, bold=True)
        for neuron, value in enumerate(columns[column]):
            y = 96 + 130 * neuron
            if column:
                layer = (first, second)[column - 1]
                for source in range(2):
                    weight = float(layer.params["weights"][source, neuron])
                    start, end = (left - 130, 96 + 130 * source), (left - 31, y)
                    ink = "a" if weight > 0 else "b"
                    canvas.arrow([start, end], ink if weight else "m", 1 + 2 * abs(weight), "" if weight else "3 3")
                    middle, up = (0.7 * a + 0.3 * b for a, b in zip(start, end, strict=True))
                    canvas.rect(middle - 17, up - 10, 34, 20, "p")
                    canvas.text(middle, up + 5, written(weight), ink if weight else "m")
                canvas.text(left, y + 48, f"bias {written(layer.params['bias'][neuron])}", "m", 12)
            canvas.dot(left, y, "g", 29)
            canvas.ring(left, y, "t", 29)
            canvas.text(left, y + 5, written(value, ".3g"), size=14)
    canvas.text(220, 308, "On the arrows: weights, negative ones orange", "m", 13)
    return canvas


def spirals() -> Canvas:
    """What a network with two hidden layers answers in the plane of two spirals, before and after training."""
    s12 = reference("s12")
    share = (np.arange(100) + 0.5) / 100
    angle = 2 * np.pi * share
    arm = (0.3 + 2.7 * share)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    X, y = np.concatenate([arm, -arm]), np.repeat([0, 1], 100)
    canvas = Canvas(660, "Two spirals, before and after training", NARROW)
    rng = np.random.default_rng(0)
    net = s12.NeuralNetwork(
        [s12.Dense(2, 32, "relu", rng), s12.Dense(32, 32, "relu", rng), s12.Dense(32, 2, "linear", rng)]
    )
    for row in range(2):
        if row:
            s12.train(net, X, y, num_epochs=40, batch_size=10, learning_rate=0.1, rng=rng)
        right = float((net.forward(X).argmax(axis=1) == y).mean())
        title = f"{'after 40 epochs' if row else 'before training'}: {100 * right:.0f} % right"
        axis = Axis(-3.4, 3.4, ticks(-3, 0, 3))
        frame = Frame(canvas, 88, 34 + 326 * row, 270, 270, axis, axis, title)
        frame.regions(lambda points: net.forward(points).argmax(axis=1), 68, "ab", 0.3, borders=False)
        frame.points(arm[:, 0], arm[:, 1], "a", 3.2)
        for point in -arm:
            canvas.ring(*frame.at(*point), "b", 3, 1.8)
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
    canvas = Canvas(300, "How large the outputs of ten layers are", NARROW)
    up = Axis(
        1e-10,
        1e11,
        [(1e-9, "1e−9"), (1e-6, "1e−6"), (1e-3, "1e−3"), (1.0, "1"), (1e3, "1e3"), (1e6, "1e6"), (1e9, "1e9")],
        "size of the outputs",
        log=True,
    )
    frame = Frame(canvas, 50, 34, 270, 212, Axis(0, 10, ticks(*range(11)), "layer"), up)
    for name, ink, dash, draw in draws:
        rng = np.random.default_rng(12)
        x = rng.standard_normal((50, 256))
        sizes = [1.0]
        for _ in range(10):
            x = np.maximum(x @ draw(rng), 0)
            sizes.append(float(np.sqrt((x**2).mean())))
        frame.curve(range(11), sizes, ink, dash=dash)
        canvas.text(328, frame.at(10, sizes[-1])[1] + (12 if name == "Xavier" else 2), name, ink, 12, "start")
    return canvas


def windows() -> Canvas:
    """A convolution: each window of the image, times the kernel, is one number of the output."""
    x, W = IMAGE, KERNEL
    out, _ = reference("s13").conv2d_forward(x[None, None], W[None, None], np.array([0.5]))
    canvas = Canvas(690, "The windows of a convolution", NARROW)
    for place in range(4):
        i, j = divmod(place, 2)
        left, top = 34, 36 + 168 * place
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


def windows_as_rows() -> Canvas:
    """The windows of an image as the rows of a matrix; one product with the kernel gives every output."""
    columns = reference("s13").im2col(IMAGE[None, None], 2, 2)
    canvas = Canvas(232, "Each window of the image is a row of im2col", NARROW)
    image = Table(canvas, 14, 76, 30, IMAGE, "g", title="image")
    rows = tuple(f"{i}" for i in range(4))
    matrix = Table(canvas, 156, 60, 30, columns, "g", title="im2col", rows=rows)
    kernel = Table(canvas, 304, 60, 30, KERNEL.reshape(4, 1), "g", title="kernel")
    output = Table(canvas, 384, 60, 44, columns @ KERNEL.reshape(4, 1) + 0.5, "g", title="output", tall=30)
    canvas.text(290, 126, "·", size=20)
    canvas.text(359, 125, "+ 0.5 =", size=12)
    image.mark(0, 1, 2, 2)
    matrix.mark(1, 0, 1, 4)
    kernel.mark(0, 0, 4, 1)
    output.mark(1, 0)
    canvas.arrow([(104, 105), (138, 105)], "b")
    canvas.text(220, 212, "window 1 is row 1; row 1 · kernel + 0.5 is output 1", "m", 12)
    return canvas


def places_of_a_kernel() -> Canvas:
    """Rows of pixels, and the places at which a kernel of 3 stands in them."""
    s13 = reference("s13")
    canvas = Canvas(396, "Where a kernel of size 3 stands", NARROW)
    top = 40.0
    for size, stride, padding, note in (
        (7, 2, 0, ""),
        (8, 2, 0, "the last pixel is never looked at"),
        (5, 1, 1, "padding 1 keeps the size 5"),
    ):
        places = s13.output_size(size, 3, stride=stride, padding=padding)
        canvas.text(
            14, top - 14, f"size {size}, stride {stride}, padding {padding}: {places} places", anchor="start", bold=True
        )
        for pixel in range(size + 2 * padding):
            real = padding <= pixel < size + padding
            if real:
                canvas.rect(30 + 44 * pixel, top, 44, 26, "a", 0.3)
            canvas.outline(30 + 44 * pixel, top, 44, 26, "m", 1, dash="" if real else "3 3")
            canvas.text(52 + 44 * pixel, top + 18, str(pixel - padding) if real else "0", "t" if real else "m", 12)
        for place in range(places):
            y, left = top + 36 + 9 * place, 30 + 44 * stride * place
            canvas.rect(left + 3, y, 3 * 44 - 6, 6, "b", 0.9, 3)
        top += 44 + 9 * places
        if note:
            canvas.text(30, top + 8, note, "m", 12, "start")
        top += 56 if note else 36
    return canvas


def counts() -> Canvas:
    """What col2im makes of ones: each pixel hears from every window that it lies in."""
    s13 = reference("s13")
    canvas = Canvas(186, "Going back, every copy becomes a sum", NARROW)
    canvas.text(14, 28, "the ones of four windows, each where it was cut", anchor="start", bold=True)
    for window in range(5):
        columns = np.ones((4, 4)) if window == 4 else np.eye(4)[window][:, None] * np.ones((4, 4))
        image = s13.col2im(columns, (1, 1, 3, 3), 2, 2)[0, 0]
        x = 10 + 87 * window
        if window == 4:
            canvas.text(x + 36, 64, "sum", "b", bold=True)
        table = Table(canvas, x, 72, 24, image, "g", inks="ab" if window < 4 else "ba", most=4)
        if window < 4:
            table.mark(window // 2, window % 2, 2, 2)
            canvas.text(x + 79.5, 113, "=" if window == 3 else "+", size=15)
    canvas.text(220, 172, "the middle pixel lies in all four, a corner in one", "m", 12)
    return canvas


def pooling() -> Canvas:
    """Max pooling keeps the largest of each window, and its gradient goes back to that place alone."""
    s13 = reference("s13")
    maps = np.array([[[[1.0, 5.0, 2.0, 0.0], [3.0, 4.0, 1.0, 7.0]]]])
    out, cache = s13.max_pool2d_forward(maps)
    back = s13.max_pool2d_backward(np.array([[[[10.0, 20.0]]]]), cache)
    canvas = Canvas(290, "Max pooling, forward and backward", NARROW)
    for y, name, left, right, most, ink in (
        (44, "forward: the largest", maps, out, 8, "a"),
        (184, "backward: to the winner alone", back, np.array([[[[10.0, 20.0]]]]), 22, "b"),
    ):
        canvas.text(14, y - 18, name, anchor="start", bold=True)
        Table(canvas, 14, y, 40, left[0, 0], "g", inks=ink * 2, most=most)
        Table(canvas, 330, y + 20, 40, right[0, 0], "g", inks=ink * 2, most=most)
        for window, (i, j) in enumerate(((0, 1), (1, 3))):
            canvas.outline(14 + 80 * window, y, 80, 80, "t", 2.5)
            canvas.outline(16 + 40 * j, y + 2 + 40 * i, 36, 36, "b", 2.5)
        canvas.arrow([(186, y + 40), (318, y + 40)] if ink == "a" else [(318, y + 40), (186, y + 40)], ink, 2)
    return canvas


def lenet_shapes() -> list[tuple[tuple[int, ...], int]]:
    """Return the shape of LeNet's image and after each layer that changes it, and the layer's number of parameters."""
    x = np.ones((1, 1, 28, 28))
    found: list[tuple[tuple[int, ...], int]] = [(x.shape[1:], 0)]
    for layer in reference("s13").build_lenet(10, np.random.default_rng(0)):
        count = sum(array.size for array in layer.params.values())
        x = layer.forward(x)
        if count or x.shape[1:] != found[-1][0]:
            found.append((x.shape[1:], count))
    return found


def lenet() -> Canvas:
    """LeNet's way from an image to ten scores: maps get smaller and more, then dense layers decide."""
    canvas = Canvas(312, "LeNet, from an image to ten scores", NARROW)
    names = ("image", "conv 5×5", "pool", "conv 5×5", "pool", "flatten", "dense", "dense", "dense")
    for place, ((shape, count), name) in enumerate(zip(lenet_shapes(), names, strict=True)):
        row, column = divmod(place, 5)
        left, base = 16 + 86 * column, 96 + 158 * row
        if len(shape) == 3:
            maps, size = shape[0], 2 * shape[1]
            for each in reversed(range(maps)):
                x, y = left + each * 1.5, base - size - each * 1.5
                canvas.rect(x, y, size, size, "p")
                canvas.rect(x, y, size, size, "a", 0.25)
                canvas.outline(x, y, size, size, "a", 0.8)
            said = f"{maps} × {shape[1]}×{shape[2]}"
        else:
            high = 4 + shape[0] / 4
            canvas.rect(left + 12, base - high, 16, high, "c", 0.5)
            canvas.outline(left + 12, base - high, 16, high, "c", 1)
            said = f"{shape[0]}"
        canvas.text(left, base + 18, said, anchor="start")
        canvas.text(left, base + 34, name, "m", 12, "start")
        if count:
            canvas.text(left, base + 50, f"{count:,}", "b", 12, "start")
    canvas.text(424, 240, "orange: parameters", "b", 12, "end")
    return canvas


def unrolled() -> Canvas:
    """A recurrent network, unrolled: the same cell at every step, and the gradient from cell to cell."""
    canvas = Canvas(262, "A recurrent network, unrolled in time", NARROW)
    before = (12.0, 104.0)
    for step in range(3):
        x = 70 + 130 * step
        cell = Box(canvas, x, 92, 86, 50, "cell", "W_x, W_h, b")
        canvas.arrow([before, (x, 104)], "a")
        canvas.text((before[0] + x) / 2, 94, f"h{'₀₁₂'[step]}", "a")
        canvas.arrow([(x, 130), (before[0], 130)], "b", 1.5, "5 3")
        canvas.arrow([(x + 43, 190), cell.bottom])
        canvas.text(x + 43, 208, f"x{'₁₂₃'[step]}")
        canvas.arrow([cell.top, (x + 43, 52)], "a")
        canvas.text(x + 43, 42, f"h{'₁₂₃'[step]}", "a")
        before = (x + 86, 104)
    canvas.text(14, 160, "gradient", "b", 12, "start")
    canvas.text(220, 234, "one set of weights for all steps;", "m")
    canvas.text(220, 253, "on the way back its gradients are summed", "m")
    return canvas


def _sign(canvas: Canvas, x: float, y: float, sign: str) -> None:
    canvas.dot(x, y, "p", 13)
    canvas.ring(x, y, "t", 13)
    canvas.text(x, y + 5, sign, size=15)


def _gate(canvas: Canvas, x: float, y: float, value: float, name: str, more: str, ink: str) -> Box:
    """Draw a gate with its value as a bar that is filled so far."""
    box = Box(canvas, x, y, 84, 46, f"{name} = {written(value, '.2f')}", more, ink)
    canvas.rect(x, y + 50, 84, 6, "g", corner=2)
    canvas.rect(x, y + 50, 84 * value, 6, ink, corner=2)
    return box


def lstm_step() -> tuple[dict[str, float], float, float]:
    """Return the gates, the cell state and the state of the example in s14's README: x = 1, h = 0, c = 3."""
    weights = {"W_x": np.array([[1.0, 0.0, 2.0, 0.0]]), "W_h": np.zeros((1, 4)), "b": np.zeros(4)}
    h, c, _ = reference("s14").lstm_cell_forward(np.array([[1.0]]), np.zeros((1, 1)), np.array([[3.0]]), weights)
    i, f, o = (1 / (1 + np.exp(-np.array([1.0, 0.0, 0.0])))).tolist()
    return {"i": i, "f": f, "g": float(np.tanh(2.0)), "o": o}, float(c[0, 0]), float(h[0, 0])


def lstm() -> Canvas:
    """The four gates of an LSTM, and what they do to its cell state."""
    gates, c, h = lstm_step()
    canvas = Canvas(336, "The gates of an LSTM: forget, write, show", NARROW)
    canvas.text(14, 32, "c = 3", "a", anchor="start", bold=True)
    canvas.text(426, 32, f"c_next = {written(c, '.2f')}", "a", anchor="end", bold=True)
    canvas.arrow([(14, 52), (426, 52)], "a", 3)
    boxes = {}
    for name, x, more, ink in (
        ("f", 14, "forget", "b"),
        ("i", 122, "input", "b"),
        ("g", 222, "candidate", "c"),
        ("o", 342, "output", "b"),
    ):
        boxes[name] = _gate(canvas, x, 196, gates[name], name, more, ink)
        canvas.arrow([(220, 296), (220, 278), (x + 42, 278), (x + 42, 256)])
    canvas.arrow([boxes["f"].top, (56, 66)], "b")
    canvas.arrow([boxes["i"].top, (164, 132), (200, 132)], "b")
    canvas.arrow([boxes["g"].top, (264, 132), (228, 132)], "c")
    canvas.arrow([(214, 118), (214, 66)])
    canvas.text(222, 96, f"i·g = {written(gates['i'] * gates['g'], '.2f')}", "m", 12, "start")
    canvas.arrow([(384, 52), (384, 118)], "a")
    canvas.text(378, 92, "tanh", "m", 12, "end")
    canvas.arrow([boxes["o"].top, (384, 146)], "b")
    canvas.arrow([(370, 132), (330, 132)], "d", 2)
    canvas.text(322, 154, f"h_next = {written(h, '.2f')}", "d", anchor="middle", bold=True)
    for x, y, sign in ((56, 52, "×"), (214, 132, "×"), (214, 52, "+"), (384, 132, "×")):
        _sign(canvas, x, y, sign)
    canvas.text(74, 74, f"0.5 · 3 = {written(3 * gates['f'])}", "m", 12, "start")
    canvas.text(220, 318, "x = 1, h = 0", bold=True)
    return canvas


def gru_step() -> tuple[dict[str, float], float]:
    """Return the gates and the state of the example in s14's README: x = 7, h = 2."""
    weights = {"W_x": np.zeros((1, 3)), "W_h": np.array([[0.0, 0.0, 1.0]])}
    weights.update(b_x=np.array([0.0, 0.0, 1.0]), b_h=np.zeros(3))
    h, _ = reference("s14").gru_cell_forward(np.array([[7.0]]), np.array([[2.0]]), weights)
    return {"r": 0.5, "z": 0.5, "n": float(np.tanh(1 + 0.5 * 2))}, float(h[0, 0])


def gru() -> Canvas:
    """The gates of a GRU: one state, of which z keeps a share, and the candidate takes the rest."""
    gates, h = gru_step()
    canvas = Canvas(336, "The gates of a GRU: keep a share, replace the rest", NARROW)
    canvas.text(14, 32, "h = 2", "a", anchor="start", bold=True)
    canvas.text(426, 32, f"h_next = {written(h, '.2f')}", "a", anchor="end", bold=True)
    canvas.arrow([(14, 52), (426, 52)], "a", 3)
    update = _gate(canvas, 90, 196, gates["z"], "z", "update", "b")
    reset = _gate(canvas, 214, 196, gates["r"], "r", "reset", "b")
    candidate = _gate(canvas, 338, 196, gates["n"], "n", "candidate", "c")
    for box in (update, reset, candidate):
        canvas.arrow([(256, 296), (256, 278), (box.top[0], 278), (box.top[0], 256)])
    canvas.arrow([update.top, (132, 66)], "b")
    canvas.arrow([(132, 132), (366, 132)], "b")
    canvas.text(248, 124, "1 − z", "b", 12)
    canvas.arrow([reset.right, candidate.left], "b")
    canvas.arrow([candidate.top, (380, 146)], "c")
    canvas.arrow([(380, 118), (380, 66)])
    for x, y, sign in ((132, 52, "×"), (380, 132, "×"), (380, 52, "+")):
        _sign(canvas, x, y, sign)
    canvas.text(152, 74, f"keeps {written(gates['z'] * 2)}", "m", 12, "start")
    canvas.text(372, 96, f"takes {written((1 - gates['z']) * gates['n'], '.2f')}", "m", 12, "end")
    canvas.text(256, 318, "x = 7, h = 2", bold=True)
    return canvas


def through_time() -> Canvas:
    """What is left of a gradient after steps back in time, for three strengths of the recurrent weight."""
    s14 = reference("s14")
    canvas = Canvas(276, "A gradient on its way back through time", NARROW)
    up = Axis(
        1e-3,
        1e3,
        [(1e-3, "0.001"), (1e-2, "0.01"), (0.1, "0.1"), (1.0, "1"), (10.0, "10"), (100.0, "100"), (1000.0, "1000")],
        "gradient",
        log=True,
    )
    frame = Frame(canvas, 50, 34, 376, 192, Axis(0, 50, ticks(0, 10, 20, 30, 40, 50), "steps back"), up)
    for strength, ink, dash, high in ((1.1, "b", "8 4", 220), (1.0, "c", "", 1.4), (0.9, "a", "4 3", 0.0016)):
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
        frame.label(49, high, f"W_h = {strength:g}: {kind}", ink, "end")
    return canvas


PICTURES = {
    "s10": {"merges": merges, "lookup": rows_of_a_table, "pairs": neighbours},
    "s11": {"curves": curves, "perceptron": perceptron, "xor": xor},
    "s12": {"network": network, "spirals": spirals, "first-weights": first_weights},
    "s13": {
        "windows": windows,
        "places": places_of_a_kernel,
        "im2col": windows_as_rows,
        "counts": counts,
        "pooling": pooling,
        "lenet": lenet,
    },
    "s14": {"unrolled": unrolled, "through-time": through_time, "lstm": lstm, "gru": gru},
}
