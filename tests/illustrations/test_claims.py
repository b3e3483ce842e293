"""What a picture's words and alt text claim is true: each picture has a test, with an oracle of its own.

A test is named after stage and picture. It reads the numbers that the picture shows, or calls what it is drawn from.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest

from grader.course.formulas import in_words
from illustrations import attention, capstone, learning, models, modern, networks, scale, trainings
from illustrations.album import FOLDER, PICTURES, folder_of
from illustrations.plots import written
from illustrations.references import reference


@cache
def said(stage: str, name: str) -> list[str]:
    """Return the texts of a picture."""
    svg = (folder_of(stage) / FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    return re.findall(r"<text [^>]*>([^<]*)</text>", svg)


def alt(stage: str, name: str) -> str:
    """Return the words that stand for a picture in its README."""
    text = (folder_of(stage) / "README.md").read_text(encoding="utf-8")
    found = re.search(rf"^!\[([^]]*)\]\(pictures/{name}\.svg\)$", text, re.MULTILINE)
    assert found is not None
    return found[1]


def shows(stage: str, name: str, *words: str) -> None:
    """Assert that words are written in a picture."""
    there = " | ".join(said(stage, name))
    assert [each for each in words if each not in there] == []


def softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores)
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def test_each_picture_has_a_test_of_its_claim() -> None:
    wanted = {f"test_{stage}_{name.replace('-', '_')}" for stage, names in PICTURES.items() for name in names}
    assert wanted - set(globals()) == set()


def test_s15_lookup() -> None:
    weights = softmax(np.array([1, 0, 0.5]) / np.sqrt(2))
    mixture = weights @ np.array([[10, 0], [20, 0], [30, 6]])
    shows("s15", "lookup", *(written(each, ".2f") for each in [*weights, *mixture]))
    assert [written(each, ".2f") for each in weights] == ["0.46", "0.22", "0.32"]
    assert "0.46, 0.22, 0.32" in alt("s15", "lookup")


@pytest.mark.parametrize(("name", "given"), [("Q", attention.QUERY), ("K", attention.KEYS), ("V", attention.VALUES)])
def test_s15_backward(name: str, given: np.ndarray) -> None:
    def loss(changed: np.ndarray) -> float:
        q, k, v = (changed if name == key else value for key, value in zip("QKV", three, strict=True))
        return float((softmax(q @ k.T / np.sqrt(2)) @ v).sum())

    three, measured = (attention.QUERY, attention.KEYS, attention.VALUES), np.zeros_like(given)
    for place in np.ndindex(given.shape):
        step = np.zeros_like(given)
        step[place] = 1e-6
        measured[place] = (loss(given + step) - loss(given - step)) / 2e-6
    found = attention.lookup_gradients()
    assert found[name].shape == given.shape
    np.testing.assert_allclose(found[name], measured, atol=1e-6)
    shows("s15", "backward", "dQ = −1.66, 1.66", "dA = 10, 20, 36", "dS = −4.81, −0.126, 4.94")


def test_s03_secants() -> None:
    forward, backward, central = (2.5**3 - 8) / 0.5, (8 - 1.5**3) / 0.5, (2.5**3 - 1.5**3) / 1
    assert backward < 12 < forward and abs(central - 12) < min(forward - 12, 12 - backward) / 10
    for name, slope in (("forward", forward), ("backward", backward), ("central", central)):
        shows("s03", "secants", f"{name}: {written(slope)}, error {written(slope - 12, '+g')}")


def test_s03_used_twice() -> None:
    slope = ((3 * 2.001 + (3 * 2.001) ** 2) - (3 * 1.999 + (3 * 1.999) ** 2)) / 0.002
    assert slope == pytest.approx(39)
    shows(
        "s03",
        "used-twice",
        "x = 2",
        "grad 39",
        "y = a + b = 42",
        "grad 13",
        "2a · 1 = 12",
        "1 + 12 = 13, and x gets 3 · 13 = 39",
    )


def test_s12_network() -> None:
    hidden = np.tanh([1 * 1 + 0, 1 * -0.5 + 0.5])
    scores = hidden @ np.array([[2, 0], [-1, 1]]) + [1, -1]
    shows("s12", "network", *(written(each, ".3g") for each in [*hidden, *scores]))


def test_s12_spirals() -> None:
    assert [re.sub(r"\D+", " ", words).split()[-1] for words in said("s12", "spirals") if "right" in words] == [
        "50",
        "100",
    ]


def test_s13_im2col() -> None:
    window = networks.IMAGE[0:2, 1:3].ravel()
    assert window @ networks.KERNEL.ravel() + 0.5 == 7.5
    assert [written(each) for each in window] == said("s13", "im2col")[said("s13", "im2col").index("im2col") - 12 :][:4]
    shows("s13", "im2col", "7.5")


def test_s13_counts() -> None:
    lies_in = [
        sum(row in (top, top + 1) and column in (left, left + 1) for top in (0, 1) for left in (0, 1))
        for row in range(3)
        for column in range(3)
    ]
    assert lies_in == [1, 2, 1, 2, 4, 2, 1, 2, 1]
    numbers = [words for words in said("s13", "counts") if words.isdecimal()]
    assert numbers[-9:] == [str(count) for count in lies_in] and numbers[:-9].count("1") == 16


def test_s13_places() -> None:
    for size, stride, padding in ((7, 2, 0), (8, 2, 0), (5, 1, 1)):
        starts = range(0, size + 2 * padding - 2, stride)
        shows("s13", "places", f"size {size}, stride {stride}, padding {padding}: {len(starts)} places")
        last = starts[-1] + 2 - padding
        assert (last < size - 1) == (size == 8)


def test_s13_pooling() -> None:
    numbers = [float(words) for words in said("s13", "pooling") if words[0].isdigit()]
    maps, out = np.reshape(numbers[:8], (2, 4)), numbers[8:10]
    assert out == [maps[:, :2].max(), maps[:, 2:].max()] == [5, 7]
    back = np.reshape(numbers[10:18], (2, 4))
    assert back[maps == 5] == 10 and back[maps == 7] == 20 and back.sum() == sum(numbers[18:]) == 30


def test_s13_lenet() -> None:
    shapes = [shape for shape, _ in networks.lenet_shapes()]
    maps = [shape for shape in shapes if len(shape) == 3]
    assert all(a[1] >= b[1] and a[0] <= b[0] for a, b in pairwise(maps))
    assert [shape[0] for shape in shapes if len(shape) == 1] == [400, 120, 84, 10]
    counts = {6 * 25 + 6, 16 * 150 + 16, 400 * 120 + 120, 120 * 84 + 84, 84 * 10 + 10}
    assert {count for _, count in networks.lenet_shapes()} == {0, *counts}
    shows("s13", "lenet", *(f"{count:,}" for count in counts))


def test_s14_lstm() -> None:
    kept, added = 0.5 * 3, 1 / (1 + np.exp(-1)) * np.tanh(2)
    shows("s14", "lstm", "0.5 · 3 = 1.5", f"i·g = {added:.2f}", f"c_next = {kept + added:.2f}")
    shows("s14", "lstm", f"h_next = {0.5 * np.tanh(kept + added):.2f}")
    assert f"adds {added:.2f}" in alt("s14", "lstm") and f"tanh({kept + added:.2f})" in alt("s14", "lstm")


def test_s14_gru() -> None:
    kept, taken = 0.5 * 2, 0.5 * np.tanh(1 + 0.5 * 2)
    shows("s14", "gru", f"keeps {kept:g}", f"takes {taken:.2f}", f"h_next = {kept + taken:.2f}")


def test_s18_gpt() -> None:
    logits = np.array([2.4495, -1.2247, -1.2247])
    shows("s18", "gpt", "2, 4, 6", "−1.22, 0, 1.22", "2.45, −1.22, −1.22", models.listed(softmax(logits)))


def test_s18_tied() -> None:
    scores, looked_up, whole = models.tied_gradients()
    assert np.abs(looked_up[2]).max() < 1e-12 and np.abs(whole[2]).min() > 0.05
    np.testing.assert_allclose(scores[0], [-0.5666, -0.0081, 0.5747], atol=1e-4)

    model, measured = models.example_gpt(), np.zeros((3, 3))
    params = model.params
    for place in np.ndindex(3, 3):
        losses = []
        for step in (1e-6, -1e-6):
            table = params["token_embedding"].copy()
            table[place] += step
            model.params = {**params, "token_embedding": table}
            shares = softmax(model.forward(np.array([[0, 1]]))[0])
            losses.append(-(np.log(shares[0, 1]) + np.log(shares[1, 2])) / 2)
        measured[place] = (losses[0] - losses[1]) / 2e-6
    np.testing.assert_allclose(whole, measured, atol=1e-5)
    shows("s18", "tied", "row 2 was not looked up,", *(written(each, ".2f") for each in whole.ravel()))


def test_s18_cache() -> None:
    shows("s18", "cache", f"{sum(range(1, 7))} computed", "6 computed", f"{sum(range(1, 6))} keys and values kept")


def test_s18_subject() -> None:
    weights, shares = models.barn_heads()
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    assert models.SUBJECT[1] == "dogs" and models.SUBJECT[-1] == "barn"
    assert (weights[:, 1] > 0.9).tolist() == [True, False, False, True]
    assert shares["bark"] > 10 * shares["barks"]
    verbs = [word + end for word in ("bark", "purr", "moo", "quack") for end in ("", "s")]
    assert max(verbs, key=shares.__getitem__) == "bark"
    shows("s18", "subject", f"bark {shares['bark']:.2f}, barks {shares['barks']:.2f}", "barn")


def test_s19_halves() -> None:
    model = reference("s19").Transformer(5, 5, 4, 2, 8, 2, rng=np.random.default_rng(0))
    source, target = np.array([[1, 2, 3]]), np.array([[1, 2]])
    memory = model.encode(source)
    assert np.array_equal(model.decode(target, memory), model.forward(source, target))
    assert not np.allclose(model.decode(target, memory * 0), model.forward(source, target))
    assert len(model.decoder_blocks) == 2 and all(hasattr(block, "cross_attention") for block in model.decoder_blocks)
    shows("s19", "halves", "read once", "once for each token written", "K, V")


def test_s19_shifted() -> None:
    words = said("s19", "shifted")
    answer, reads = words[1:5], words[6:10]
    assert (answer, reads) == (["7", "8", "9", "end"], ["start", "7", "8", "9"])
    assert reads[1:] == answer[:-1]


def test_s19_beam() -> None:
    assert (models.searched(1), models.searched(2)) == ([2], [3])
    shows("s19", "beam", f"end: {0.5 * 0.4:.2f}", f"end: {0.4 * 0.85:.2f}")
    assert alt("s19", "beam") == "greedy search ends with 0.20; a beam of two keeps 3 and finds 0.34"


def test_s21_seats() -> None:
    """The seats by hand: a queue for each expert, first choices before second ones."""
    exponentials = np.exp(scale.TOKENS @ scale.ROUTER)
    order = np.argsort(-exponentials, axis=1, kind="stable")[:, :2]
    queues: dict[int, list[str]] = {0: [], 1: [], 2: []}
    for choice in range(2):
        for token in range(4):
            queues[int(order[token, choice])].append("ABCD"[token])
    assert queues == {0: ["A", "C", "B"], 1: ["B", "D", "A", "C"], 2: ["D"]}
    shows("s21", "seats", "C dropped", "A · 0.67", "B · 0.67", "D · 0.50", "C · 0.50", "B · 0.33", "A · 0.33")
    assert sum("dropped" in words for words in said("s21", "seats")) == 1


def test_s22_online() -> None:
    scores = np.log([3.0, 1, 9, 3])
    first, both = np.exp(scores[:2] - np.log(3)).sum(), np.exp(scores - np.log(9)).sum()
    assert (first, both) == (pytest.approx(4 / 3), pytest.approx(first / 3 + 4 / 3)) and both == pytest.approx(16 / 9)
    shows("s22", "online", "4/3", "4/9 + 4/3 =", "16/9", "weights 3/16, 1/16, 9/16, 3/16")


def test_s22_tiles() -> None:
    queries, keys = np.mgrid[0:12, 0:12]
    needed = [
        (i, j) for i in range(3) for j in range(3) if (keys <= queries)[4 * i : 4 * i + 4, 4 * j : 4 * j + 4].any()
    ]
    words = said("s22", "tiles")
    assert len(needed) == len([each for each in words if each.isdigit()]) == 6 and words.count("skipped") == 9 - 6


def test_s22_shared_heads() -> None:
    assert [scale.served(kv) for kv in (8, 2, 1)] == [list(range(8)), [0] * 4 + [1] * 4, [0] * 8]
    shows("s22", "shared-heads", "grouped: 2 for 8, a quarter is kept", "multi-query: 1 for 8")


def test_s22_turned() -> None:
    assert [words for words in said("s22", "turned") if "q · k" in words] == [f"q · k = {np.cos(1):.4f}"] * 2


def test_s23_rotation() -> None:
    turns = np.exp(1j * np.arange(6)[:, None] * np.array([1.0, 0.1]))
    assert np.allclose(modern.turned(), np.stack([turns.real, turns.imag], axis=-1))
    shows("s23", "rotation", "1.0 radian a position", "0.1 radian a position", "d = 4, base 100")
    assert "1.0 radian a position, the second by 0.1" in alt("s23", "rotation")


def test_s23_heads() -> None:
    assert modern.servers() == [0, 0, 1, 1]
    behind = np.arange(8)[:, None] - np.arange(8)
    assert ((modern.visible() > 0) == ((behind >= 0) & (behind < 3))).all()
    shows("s23", "heads", "4 heads of queries", "2 heads of keys and values", "and the 2 before it")
    assert "four heads of queries, of which two share each head" in alt("s23", "heads")


def test_s23_block() -> None:
    """The order of the parts is that of the reference: a block whose sublayers write nothing hands x on."""
    block, x = reference("s23").ModernBlock(4, 2, 1, 3, np.random.default_rng(0)), np.arange(8.0).reshape(1, 2, 4)
    params = block.params
    for name in ("attention.output_weights", "mlp.down_weights"):
        params[name] = np.zeros_like(params[name])
    block.params = params
    assert np.array_equal(block.forward(x), x)
    words = said("s23", "block")
    assert [words.count(each) for each in ("RMS norm", "+", "grouped attention", "SwiGLU")] == [2, 2, 1, 1]
    shows("s23", "block", "turned Q and K · causal · window", "(silu(gate) · up) W_down")


def test_s23_rolling() -> None:
    expected = [{0}, {0, 1}, {0, 1, 2}, {1, 2, 3}, {2, 3, 4}, {3, 4, 5}]
    for position, row in enumerate(modern.slots()):
        kept = {int(each) for each in row if not np.isnan(each)}
        assert kept == expected[position] and all(int(row[place % 3]) == place for place in kept)
    assert [words for words in said("s23", "rolling") if words.startswith("over")] == ["over 0", "over 1", "over 2"]


def test_s01_product() -> None:
    sat, down = np.array([0, 0, 0.5, 1, 1, 0.5]), np.array([0.5, 0, 0, 0.5, 1, 1])
    assert sat @ down == 2 and "entry 2" in alt("s01", "product")
    shows("s01", "product", "2.00")


def test_s02_residuals() -> None:
    A, b = np.column_stack([np.ones(3), [0, 1, 2]]), np.array([1, 2, 6])
    x = np.linalg.lstsq(A, b, rcond=None)[0]
    shows("s02", "residuals", f"line: {x[0]:.1f} + {x[1]:.1f} t", *(written(each, "+.1f") for each in A @ x - b))
    assert np.sum((A @ x - b) ** 2) == pytest.approx(1.5)


def test_s03_step_size() -> None:
    def error(h: float, central: bool) -> float:
        low = 0.7 - h if central else 0.7
        return abs(((0.7 + h) ** 3 - low**3) / (0.7 + h - low) - 3 * 0.49)

    for central, best in ((False, 1e-8), (True, 1e-5)):
        assert error(0.1, central) > 100 * error(best, central) < error(1e-13, central)
    assert error(1e-2, True) < error(1e-2, False) / 100
    shows("s03", "step-size", "forward: order h", "central: order h²", "central, h = 1e−5")


def test_s04_bells() -> None:
    x = np.linspace(-1, 1, 2001)
    assert np.trapezoid(np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi), x) == pytest.approx(0.68, abs=0.005)
    shows("s04", "bells", "shaded: 68 % lie within", "one std of the mean")


def test_s06_fitting() -> None:
    shows("s06", "fitting", "0", "1", "3", "60")
    rng, x = np.random.default_rng(6), np.linspace(-1.5, 2.5, 14)
    y, (w, b), losses = 1 + 1.5 * x + 0.45 * rng.standard_normal(14), (0.0, 0.0), []
    for _ in range(61):
        errors = w * x + b - y
        losses.append(float((errors**2).mean()))
        w, b = w - 0.2 * (errors * x).mean(), b - 0.2 * errors.mean()
    assert losses == sorted(losses, reverse=True) and losses[3] < losses[0] / 3


def test_s07_borders() -> None:
    texts = said("s07", "borders")
    assert [texts.count(f"class {label}") for label in range(4)] == [1, 1, 1, 0]


def test_s08_scales() -> None:
    values = np.array([1, 1.5, 2, 2.5, 9])
    low, high = np.quantile(values, [0.25, 0.75])
    squeezed, robust = (values - 1) / 8, (values - 2) / (high - low)
    assert np.ptp(squeezed[:4]) < 0.2 < 1 < np.ptp(robust[:4])
    shows("s08", "scales", f"0 to {squeezed[3]:.2g}", f"−1 to {robust[3]:.2g}")


def test_s09_shrinking() -> None:
    s09, rng = reference("s09"), np.random.default_rng(9)
    X = rng.standard_normal((60, 4))
    y = X @ np.array([2.0, -1.2, 0.6, 0.0]) + 0.5 * rng.standard_normal(60)
    zeros = [int((s09.fit_lasso(X, y, alpha, 100)[0] == 0).sum()) for alpha in (0.01, 0.3, 0.8, 1.5, 3.0)]
    assert zeros == sorted(zeros) and zeros[0] == 0 and zeros[-1] == 4 and len(set(zeros)) > 3
    ridge = [np.abs(s09.fit_ridge(X, y, alpha)[0]) for alpha in (0.1, 100.0, 10_000.0)]
    assert all((weights > 0).all() for weights in ridge) and ridge[2].max() < 0.1 * ridge[0].max()
    shows("s09", "shrinking", "ridge: all fade together", "lasso: one after another reaches 0")


def test_s10_merges() -> None:
    text, counts = networks.TEXT, [len(networks.TEXT)]
    for pair, token in (("aa", "X"), ("Xa", "Y"), ("Yb", "Z")):
        text = text.replace(pair, token)
        counts.append(len(text))
    assert counts == [11, 9, 7, 5]
    assert [words for words in said("s10", "merges") if words.endswith("tokens")] == [f"{n} tokens" for n in counts]


@pytest.mark.parametrize("name", networks.KINDS)
def test_s11_curves(name: str) -> None:
    s11, z = reference("s11"), np.array([-3.1, -0.7, 0.4, 2.3])
    measured = (getattr(s11, name)(z + 1e-6) - getattr(s11, name)(z - 1e-6)) / 2e-6
    np.testing.assert_allclose(getattr(s11, f"{name}_derivative")(z), measured, atol=1e-6)
    shows("s11", "curves", name)


def test_s11_xor() -> None:
    corners, answers = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
    hidden = np.column_stack([corners.sum(1), np.maximum(corners.sum(1) - 1, 0)])
    lines = np.stack(np.meshgrid(*[np.linspace(-2, 2, 17)] * 3), axis=-1).reshape(-1, 3)
    for points, parted in ((corners, False), (hidden, True)):
        sides = lines[:, :2] @ points.T + lines[:, 2:]
        assert ((sides > 0) == answers).all(axis=1).any() == parted
    shows("s11", "xor", "the bits: no line separates 1 from 0", "two hidden units: a line does")


def test_s12_first_weights() -> None:
    ends = {}
    for name, deviation in (("He", np.sqrt(2 / 256)), ("Xavier", np.sqrt(1 / 256)), ("1", 1.0), ("0.01", 0.01)):
        rng = np.random.default_rng(1)
        x = rng.standard_normal((50, 256))
        for _ in range(10):
            x = np.maximum(x @ (deviation * rng.standard_normal((256, 256))), 0)
        ends[name] = float(np.sqrt((x**2).mean()))
    assert 1 / 3 < ends["He"] < 3 and ends["Xavier"] < 0.1 and ends["1"] > 1e6 and ends["0.01"] < 1e-6
    shows("s12", "first-weights", "He", "Xavier", "deviation 1", "deviation 0.01")


def test_s13_windows() -> None:
    for i, j in np.ndindex(2, 2):
        total = np.sum(networks.IMAGE[i : i + 2, j : j + 2] * networks.KERNEL) + 0.5
        assert any(words.endswith(f"+ 0.5 = {written(total)}") for words in said("s13", "windows"))


def test_s14_unrolled() -> None:
    assert said("s14", "unrolled").count("W_x, W_h, b") == 3
    s14, rng = reference("s14"), np.random.default_rng(0)
    weights = {"W_x": rng.standard_normal((2, 3)), "W_h": rng.standard_normal((3, 3)), "b": rng.standard_normal(3)}
    x, h, back = rng.standard_normal((1, 4, 2)), np.zeros((1, 3)), rng.standard_normal((1, 4, 3))
    caches = []
    for step in range(4):
        h, cache_ = s14.rnn_cell_forward(x[:, step], h, weights)
        caches.append(cache_)
    grad_h, total = np.zeros((1, 3)), np.zeros(3)
    for step in reversed(range(4)):
        _, grad_h, found = s14.rnn_cell_backward(back[:, step] + grad_h, caches[step])
        total = total + found["b"]
    np.testing.assert_allclose(s14.rnn_backward(back, s14.rnn_forward(x, np.zeros((1, 3)), weights)[1])[2]["b"], total)


def test_s14_through_time() -> None:
    assert 0.9**50 < 0.01 and 1.1**50 > 100
    shows("s14", "through-time", "W_h = 0.9: vanishes", "W_h = 1: stays", "W_h = 1.1: explodes")


def test_s15_mask() -> None:
    scores = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0], [1.0, 1.0, 1.0]])
    weights = softmax(np.where(np.tri(3) > 0, scores, -np.inf))
    assert [f"{each:.2f}" for each in weights.ravel()] == [words for words in said("s15", "mask") if words[1:2] == "."]
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    assert not np.triu(weights, 1).any()


def test_s15_heads() -> None:
    x = np.array([[1, 0, 0, 1], [0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 1, 0]]) * 2
    pairs = [[np.array_equal(x[a, part], x[b, part]) for a, b in ((0, 2), (1, 3), (0, 1), (2, 3))]
             for part in (slice(0, 2), slice(2, 4))]  # fmt: skip
    assert pairs == [[True, True, False, False], [False, False, True, True]]
    shows("s15", "heads", "tokens 0 and 2 agree, 1 and 3", "tokens 0 and 1 agree, 2 and 3")


def test_s15_positions() -> None:
    encoding = reference("s15").sinusoidal_encoding(48, 32)
    turns = [int((np.diff(np.sign(encoding[:, column])) != 0).sum()) for column in range(0, 32, 2)]
    assert turns == sorted(turns, reverse=True) and turns[0] > 10 and turns[-1] <= 1
    shows("s15", "positions", "left: fast clock hands, which tell neighbours apart")


def test_s15_block() -> None:
    s15, rng = reference("s15"), np.random.default_rng(0)
    block, x = s15.TransformerEncoderBlock(8, 2, rng=rng), rng.standard_normal((2, 3, 8))
    h = s15.layer_norm(x + block.attention.forward(x, x, x), block.gamma1, block.beta1)
    out = s15.layer_norm(h + s15.feed_forward(h, block.W1, block.b1, block.W2, block.b2), block.gamma2, block.beta2)
    np.testing.assert_allclose(block.forward(x), out)
    assert [words for words in said("s15", "block") if words.startswith("residual")] == [
        "residual: x goes past", "residual: h goes past",
    ]  # fmt: skip


def test_s16_layer() -> None:
    steps = [int(step) for words in said("s16", "layer") for step in re.findall(r"step (\d+)", words)]
    assert sorted(steps) == sorted([*range(1, 11), 1])  # the last words say that step 1 comes first


def test_s17_gelu() -> None:
    s11, z = reference("s11"), np.linspace(-4, 4, 801)
    assert s11.gelu(z).min() < -0.1 and s11.gelu_derivative(z).max() > 1.1
    share = s11.gelu(z) / np.where(z == 0, 1, z)
    assert (np.diff(share[z < -0.1]) > 0).all() and share[z < -0.1].min() > 0 and share.max() < 1  # Φ(x)
    bends = np.abs(np.diff(s11.gelu_derivative(z))).max()
    assert bends < 0.02 and np.abs(np.diff(s11.relu_derivative(z))).max() == 1
    shows("s17", "gelu", "ReLU: all or nothing", "GELU = x · Φ(x): no corner, and a dip below 0")


def test_s17_norms() -> None:
    """With sublayers that answer 0, pre-LN hands x on; post-LN has normalised it."""
    s17, x = reference("s17"), np.random.default_rng(0).standard_normal((1, 2, 4)) * 5
    for kind, same in ((s17.Block, True), (s17.PostNormBlock, False)):
        block = kind(4, 2, rng=np.random.default_rng(0))
        for layer, last in ((block.attention, "output_weights"), (block.mlp, "W2")):
            layer.params = {**layer.params, last: np.zeros_like(layer.params[last])}
        assert np.allclose(block.forward(x), x) == same
    shows("s17", "norms", "pre-LN: no norm on the path from x to the output")


def test_s18_choosing() -> None:
    logits = np.array([2.0, 1, 0, -1])
    plain = softmax(logits)
    rows = (softmax(logits / 0.5), plain, softmax(logits / 2), plain[:2] / plain[:2].sum(), plain[:3] / plain[:3].sum())
    assert plain[:2].sum() < 0.9 <= plain[:3].sum()
    for row in rows:
        shows("s18", "choosing", *(f"{share:.2f}" for share in row if share > 0.12))


def test_s19_alignment() -> None:
    weights = models.aligned()[1]
    assert weights[:4].argmax(axis=1).tolist() == [3, 2, 1, 0]
    assert [words for words in said("s19", "alignment") if words in models.SENTENCE][:4] == [*models.SENTENCE[::-1]]


def test_s20_patches() -> None:
    assert {f"patch {number}" for number in range(4)} <= set(said("s20", "patches"))
    tokens = reference("s20").patchify(np.arange(64.0).reshape(1, 1, 8, 8), 4)[0]
    assert tokens[:, :4].tolist() == [[0, 1, 2, 3], [4, 5, 6, 7], [32, 33, 34, 35], [36, 37, 38, 39]]


def test_s21_load() -> None:
    words = said("s21", "load")
    losses = [float(re.search(r"loss (\S+)", each)[1]) for each in words if "capacity" in each]  # type: ignore[index]
    dropped = [int(each.split()[0]) for each in words if each.endswith("dropped")]
    assert losses[1] < losses[0] and losses[1] == pytest.approx(1, abs=0.05)
    assert dropped == [1, 15]  # all of them before
    assert words.index("15 dropped") < words.index("after 40 steps on the balancing loss")


def test_s22_patterns() -> None:
    n = 2.0**14
    assert n**2 > 512 * n > 128 * n
    shows("s22", "patterns", "scores: n²", "tiles: n · 512", "linear: n · 128")


def test_s01_broadcasting() -> None:
    for left, right in (((2, 3), (3,)), ((2, 1), (3,))):
        assert np.broadcast_shapes(left, right) == (2, 3)
    with pytest.raises(ValueError, match="4"):
        np.broadcast_shapes((4, 3), (4,))
    sums = np.array([[100], [200]]) + np.array([10, 20, 30])
    shows("s01", "broadcasting", "(2, 1) + (3) gives (2, 3)", *map(str, sums.ravel()))


def test_s02_elimination() -> None:
    texts = [words.replace("−", "-") for words in said("s02", "elimination")]
    numbers = [float(words) for words in texts if re.fullmatch(r"-?[\d.]+", words)]
    A, first, U = np.reshape(numbers[:27], (3, 3, 3))
    lower = np.array([[1, 0, 0], [0.5, 1, 0], [0.25, -0.5, 1]])
    np.testing.assert_allclose(lower @ U, A[[1, 2, 0]])
    assert numbers[27:] == [lower[1, 0], lower[2, 0], lower[2, 1]]
    assert not first[1:, 0].any() and abs(first[2, 1]) > abs(first[1, 1]) and not np.tril(U, -1).any()


def test_s02_gram_schmidt() -> None:
    first, second = np.array([3, 4]) / 5, np.array([1, 3])
    left = second - (second @ first) * first
    assert second @ first == pytest.approx(3) and left @ first == pytest.approx(0)
    assert np.linalg.norm(left) == pytest.approx(1)
    shows("s02", "gram-schmidt", "3 · (0.6, 0.8)", "what is left: Q₂ = (−0.8, 0.6)")


def test_s02_dominant() -> None:
    S, v, errors = np.array([[2.0, 1], [1, 2]]), np.array([1.0, 0]), []
    for step in range(12):
        if step < 4:
            shows("s02", "dominant", f"step {step}: q = {v @ S @ v:.4g}")
        errors.append(np.linalg.norm(v - np.sqrt(0.5)))
        v = S @ v / np.linalg.norm(S @ v)
    assert errors[11] / errors[10] == pytest.approx(1 / 3, abs=1e-3)
    shows("s02", "dominant", f"eigenvector of {np.linalg.eigvalsh(S)[-1]:g}")


def test_s04_coins() -> None:
    heads = np.array([0.5, 0.25, 0.99])
    values = -(heads * np.log(heads) + (1 - heads) * np.log(1 - heads))
    shows("s04", "coins", *(f": {value:.2f}" for value in values))
    grid = np.linspace(0.01, 0.99, 99)
    assert grid[np.argmax(-(grid * np.log(grid) + (1 - grid) * np.log(1 - grid)))] == pytest.approx(0.5)


def test_s04_together() -> None:
    x, y = np.array([1, 3, 5]), np.array([2, 6, 1])
    products = (x - 3) * (y - 3)
    assert products.tolist() == [2, 0, -4] and np.cov(x, y)[0, 1] == -1
    shows("s04", "together", "2 + 0 − 4 = −2; divided by n − 1 = 2: −1")


def test_s04_likeliest() -> None:
    samples = np.array([1.0, 2, 6])

    def total(mean: float, std: float) -> float:
        return float((-((samples - mean) ** 2) / (2 * std**2) - np.log(std * np.sqrt(2 * np.pi))).sum())

    best = total(3, float(samples.std()))
    assert best > max(total(mean, std) for mean in np.linspace(0, 6, 25) for std in np.linspace(0.5, 5, 19))
    shows("s04", "likeliest", f"−{-best:.2f}", f"−{-total(5, 1.5):.2f}")


def test_s05_schedules() -> None:
    s05, steps = reference("s05"), range(51)
    stairs = [s05.step_decay(step, 0.8) for step in steps]
    assert len({round(rate, 9) for rate in stairs}) == 6
    glide = [s05.exponential_decay(step, 0.8, 0.07) for step in steps]
    assert all(b / a == pytest.approx(np.exp(-0.07)) for a, b in pairwise(glide))
    cosine = [s05.cosine_annealing(step, 0.8, 40, min_rate=0.1) for step in steps]
    assert cosine[0] == 0.8 and all(rate == pytest.approx(0.1) for rate in cosine[40:])
    warm = [s05.warmup_cosine(step, 0.8, 10, 50) for step in steps]
    assert warm[0] == 0 and int(np.argmax(warm)) == 10 and warm[-1] == pytest.approx(0)
    assert all(rates[45] < rates[12] for rates in (stairs, glide, cosine, warm))
    shows("s05", "schedules", "step_decay", "exponential_decay", "cosine_annealing", "warmup_cosine")


def test_s06_slope() -> None:
    X, y = np.array([[3.0, 0], [5, 1], [6, 4], [9, 2]]), np.array([10, 15, 21, 25])

    def loss(w: float) -> float:
        return float(np.mean((X @ [w, 1] + 3 - y) ** 2))

    assert (loss(2 + 1e-6) - loss(2 - 1e-6)) / 2e-6 == pytest.approx(-19, abs=1e-4)
    assert loss(2) == 2.5 and loss(2.1) < 2.5
    shows("s06", "slope", "loss 2.5", "slope −19")


def test_s07_sigmoid() -> None:
    for score in (-2, 0, 2):
        shows("s07", "sigmoid", f"{written(score)}: {1 / (1 + np.exp(-score)):.2f}")
    assert round(1 / (1 + np.exp(2)), 2) + round(1 / (1 + np.exp(-2)), 2) == 1


def test_s07_price() -> None:
    for name, p in (("0.9", 0.9), ("0.5", 0.5), ("1/3", 1 / 3), ("0.1", 0.1)):
        shows("s07", "price", f"{name}: {-np.log(p):.2f}")


def test_s07_confused() -> None:
    true, told = [0, 0, 0, 0, 1, 1, 2], [0, 0, 0, 1, 1, 0, 0]
    hits = sum(a == b == 0 for a, b in zip(true, told, strict=True))
    shows("s07", "confused", f"{hits} of {true.count(0)} found", f"{hits} of {told.count(0)} are true")
    right = sum(a == b for a, b in zip(true, told, strict=True))
    assert right == true.count(0) == 4 and 2 not in told
    shows("s07", "confused", "4 of 7 right, but class 2 was never found,")


def test_s07_roc() -> None:
    won = sum(a > b for a in (0.35, 0.8) for b in (0.1, 0.4))
    shows("s07", "roc", f"area {won / 4}")


def test_s08_fences() -> None:
    low, high = np.quantile([2.0, 1, 9, 1.5, 2.5], [0.25, 0.75])
    fences = low - 1.5 * (high - low), high + 1.5 * (high - low)
    assert fences == (0, 4) and fences[1] < 9
    shows("s08", "fences", "width 1; fences 1.5 widths outside, at 0 and 4")


def test_s08_padded() -> None:
    numbers = [int(words) for words in said("s08", "padded") if words.isdigit()]
    array, mask = np.reshape(numbers[:9], (3, 3)), np.reshape(numbers[-9:], (3, 3))
    assert array.tolist() == [[5, 3, 0], [7, 0, 0], [8, 9, 0]]
    assert mask.tolist() == [[1, 1, 1], [1, 0, 0], [1, 1, 0]]


def test_s09_thresholded() -> None:
    grid = np.linspace(-5, 5, 2001)
    for z in (3.0, -1.5, 0.5):
        lowest = grid[np.argmin(0.5 * (grid - z) ** 2 + np.abs(grid))]
        shows("s09", "thresholded", f"{written(z)} → {written(round(lowest, 6))}")


def test_s09_stopped() -> None:
    losses, best, since, epoch = [5.0, 3.0, 4.0, 3.5, 1.0], 0, 0, 0
    while since < 2:
        epoch += 1
        best, since = (epoch, 0) if losses[epoch] < losses[best] else (best, since + 1)
    assert (epoch, best) == (3, 1)
    shows("s09", "stopped", f"the weights of epoch {best}")
    assert "epoch 1 is the best, epoch 3 stops" in alt("s09", "stopped")


def test_s10_lookup() -> None:
    numbers = [words for words in said("s10", "lookup") if words.isdigit()]
    assert (numbers[:3], numbers[-6:]) == (["2", "0", "2"], ["5", "6", "1", "2", "5", "6"])


def test_s10_pairs() -> None:
    told = [words for words in said("s10", "pairs") if ", " in words]
    words = networks.SENTENCE
    assert told == [f"{words[at]}, {words[at + step]}" for at in (1, 2, 3) for step in (-1, 1)]


def test_s11_perceptron() -> None:
    weights, bias, errors = np.zeros(2), 0, [0, 0, 0, 0]
    for epoch in range(4):
        for x, label in (((0, 0), 0), ((0, 1), 1), ((1, 0), 1), ((1, 1), 1)):
            off = label - int(weights @ x + bias > 0)
            weights, bias, errors[epoch] = weights + off * np.array(x), bias + off, errors[epoch] + abs(off)
        shows("s11", "perceptron", f"w = ({weights[0]:g}, {weights[1]:g}), b = {bias:g}")
    assert errors == [1, 2, 1, 0]
    shows("s11", "perceptron", *(f"epoch {epoch + 1}: {wrong} wrong" for epoch, wrong in enumerate(errors)))


def test_s16_masks() -> None:
    real = np.array([[False, True, True, True]])
    both = attention.allowed(causal=True, padding_mask=real)
    assert np.array_equal(both, np.tri(4, dtype=bool) & real) and not both[0].any()
    shows("s16", "masks", "Query 0 has no key left: its weights and output are 0.")


def test_s16_cross() -> None:
    x, memory = 3 * np.eye(2), np.array([[2.0, 0], [0, 2], [1, 1]])
    weights = softmax(x @ memory.T / np.sqrt(2))
    assert weights.shape == (2, 3)
    numbers = [*weights.ravel(), *(weights @ memory).ravel()]
    shows("s16", "cross", "weights (2, 3)", *(f"{each:.2f}" for each in numbers))


def test_s17_normalised() -> None:
    for x in (np.array([2.0, 4, 6]), np.array([300.0, 100, 200])):
        z = (x - np.mean(x)) / np.std(x)
        assert np.argmax(z) == np.argmax(x) and np.ptp(z) == pytest.approx(2 * np.sqrt(1.5))
        shows("s17", "normalised", *(written(round(each, 2)) for each in z))


def test_s20_class_token() -> None:
    numbers = [words for words in said("s20", "class-token") if re.fullmatch(r"−?\d", words)]
    assert numbers[6:9] == ["1", "0", "−1"] and numbers[9:15] == numbers[:6]
    s20, rng = reference("s20"), np.random.default_rng(0)
    vit, image = s20.ViT((1, 8, 8), 4, 3, 8, 1, 2, rng=rng), rng.standard_normal((1, 1, 8, 8))
    vit.backward(np.ones_like(vit.forward(image)))
    assert np.abs(vit.grads["class_token"]).max() > 0


def test_s20_rollout() -> None:
    first, second = ((looks + np.eye(3)) / 2 for looks in scale.LOOKS)
    whole = second @ first
    assert scale.LOOKS[0][0, 2] == 0 and whole[0, 2] == pytest.approx(0.15)
    shares = [f"{share / whole[0, 1:].sum():.2f}" for share in whole[0, 1:]]
    shows("s20", "rollout", "but has 0.15 of it: by way of block 2.", *shares)


def test_s05_descent() -> None:
    (_, _, plain), (_, _, momentum), (_, _, adam) = learning.descents()
    ends = [learning.height(path[-1]) for path in (plain, momentum, adam)]
    assert ends[0] > 50 * max(ends[1:])
    assert (np.sign(plain[:-1, 1]) == -np.sign(plain[1:, 1])).all()  # over the valley with each step
    assert (momentum[:, 0] > 0).any() and (plain[:, 0] < -2).all()  # momentum swings past, descent has barely moved
    assert np.sum(np.diff(np.sign(adam[:, 1])) != 0) < np.sum(np.diff(np.sign(momentum[:, 1])) != 0)  # Adam curves


def test_capstone_curves() -> None:
    """The picture and its page show the numbers that are kept."""
    s18, s23 = (trainings.kept()["models"][name] for name in ("s18", "s23"))
    assert s23["parameters"] <= s18["parameters"] and s23["steps"] == s18["steps"] == trainings.plan().steps
    assert s23["losses"][-1] < s18["losses"][-1]
    assert all(ours < theirs for ours, theirs in zip(s23["perplexities"], s18["perplexities"], strict=True))
    page = (folder_of("capstone") / "README.md").read_text(encoding="utf-8")
    for name, each in (("s18", s18), ("s23", s23)):
        assert each["perplexity"] == each["perplexities"][0]
        (line,) = [
            line for line in page.splitlines() if line.startswith(f'| `model = "{name}"` | {each["parameters"]:,} |')
        ]
        assert line.endswith(f"| {', '.join(f'{one:.2f}' for one in each['perplexities'])} |")
    shows(
        "capstone",
        "curves",
        *(f"{name}: perplexity {each['perplexity']:.2f}" for name, each in (("s18", s18), ("s23", s23))),
    )


@pytest.mark.full_matrix("illustrations", "stages", "hidden")
@pytest.mark.parametrize("name", ["s18", "s23"])
def test_the_kept_numbers_of_a_training_are_those_that_its_first_steps_give_now(name: str) -> None:
    of, kept = trainings.plan(), trainings.kept()["models"][name]
    with trainings.script(of) as functions:
        given = trainings.settings(of, name)
        prepared = functions.prepare(*of.parts, given)
        state = functions.begin(prepared, given, of.seed)
        assert sum(value.size for value in state["params"].values()) == kept["parameters"]
        _, losses = functions.advance(state, prepared, given, of.seed, 0, trainings.STRETCH, of.steps)
        assert np.mean(losses) == pytest.approx(kept["losses"][0], abs=1e-3)


def test_capstone_scaling() -> None:
    """The law is the best there is nearby, and the page has its numbers and those that it was fitted to."""
    rows, law = trainings.kept()["sizes"], capstone.law()
    (learnt,) = capstone.by_heart()
    shorter = [row for row in rows if row["parameters"] == learnt["parameters"] and row is not learnt]
    assert learnt["training"] < law.floor < min(row["held_out"] for row in shorter) < learnt["held_out"]
    assert len(rows) == 9 and len({row["parameters"] for row in rows}) == len({row["tokens"] for row in rows}) == 3
    assert all(row["tokens"] == row["steps"] * 12 * 96 for row in rows)
    fitted = [row for row in rows if row is not learnt]

    def misfit(excess: float, alpha: float, beta: float) -> float:
        said = ((1e4 / row["parameters"]) ** alpha * (1e6 / row["tokens"]) ** beta * excess for row in fitted)
        return float(
            sum(np.log(each / (row["held_out"] - law.floor)) ** 2 for each, row in zip(said, fitted, strict=True))
        )

    best = (law.excess, law.alpha, law.beta)
    for place, by in product(range(3), (-0.01, 0.01)):
        assert misfit(*(each * (1 + by * (number == place)) for number, each in enumerate(best))) > misfit(*best)
    errors = [abs(float(law.loss(row["parameters"], row["tokens"])) / row["held_out"] - 1) for row in fitted]
    assert law.error == pytest.approx(max(errors))
    page = in_words((folder_of("capstone") / "README.md").read_text(encoding="utf-8"))
    for row in rows:
        (line,) = [each for each in page.splitlines() if each.startswith(f"| {row['parameters']:,} |")]
        assert f" {row['held_out']:.2f} " in line
    powers = f"(10⁴ / parameters)^{law.alpha:.2f} · (10⁶ / tokens)^{law.beta:.2f}"
    assert f"loss = 0.23 + {law.excess:.2f} · {powers}" in page and f"off by {100 * law.error:.0f} %" in page
    open_choices = 8 * 7 * 5 * 6 * 4 * 5 * 4 * 2 * 2 * 2
    said_or_not = -sum(p * np.log(p) for p in (0.5, 0.5, 0.6, 0.4, 0.6, 0.4))
    left_open = np.log(open_choices) + said_or_not + 0.5 * np.log(4)
    of = trainings.plan()
    with trainings.script(of) as functions:
        prepared = functions.prepare(*of.parts, trainings.settings(of, "s23"))
    assert f"has {len(prepared['training']):,} tokens" in page
    assert f"{learnt['tokens']:,} has read it {learnt['tokens'] / len(prepared['training']):.0f} times" in page
    fell = f"to {learnt['training']:.2f}, which is below the floor, while"
    rose = f"from {min(row['held_out'] for row in shorter):.2f} to {learnt['held_out']:.2f}"
    assert fell in page and rose in page
    tokens = (len(prepared["training"]) + len(prepared["held_out"])) / 900
    assert law.floor == pytest.approx(left_open / tokens, rel=1e-3) and f"{left_open:.1f} / {tokens:.1f} = 0.23" in page
    shows("capstone", "scaling", "parameters", *(f"{row['parameters']:,}" for row in rows[::3]))
