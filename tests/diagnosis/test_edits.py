"""Each sort of edit is found where the mistake is made: by id, function and line."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from grader.diagnosis.checks import Checks, Maker, calls_of, evidence_of
from grader.diagnosis.edited import _passes
from grader.diagnosis.runner import Heard, LocalRunner
from grader.diagnosis.search import Budget
from grader.sandbox.connection import Ended, Passed
from tests.diagnosis.engine import STAGE, Call, causes, ended, module_of
from tests.diagnosis.test_causes import RIGHT

GRID = np.arange(24.0).reshape(4, 6) ** 1.5 % 7
SQUARE = np.array([[1.0, 2.0, 0.5], [3.0, 5.0, 1.0], [0.25, 1.0, 2.0]])
PIXELS = np.array([3, 250, 17, 99, 180, 7], np.uint8)
BY_INDEX = """
import numpy as np
def gradient(grad, ids, size):
    table = np.zeros((size, grad.shape[1]))
    np.add.at(table, ids, grad)
    return table
"""
REPEATED: list[Call] = [
    ("gradient", (GRID, np.array([1, 1, 0, 2]), 3)),
    ("gradient", (2 * GRID, np.array([2, 2, 2, 1]), 4)),
]
CASES: list[tuple[str, str, str, str, list[Call], int]] = [
    (
        "sign-wrong",
        """
        import numpy as np
        def share(s):
            return np.exp(s) / (1 + np.exp(s))
        def slope(bad, batch):
            push = share(-bad) / batch
            return push * bad[::-1]
        """,
        "share(-bad)",
        "share(bad)",
        [("slope", (SQUARE, 3)), ("slope", (GRID / 8, 4)), ("slope", (SQUARE - 1, 2))],
        5,
    ),
    (
        "infinite-difference",
        """
        import numpy as np
        def powers(scores, seen):
            scores = np.where(seen, scores, -np.inf)
            top = scores.max(axis=1, keepdims=True)
            top = np.where(np.isfinite(top), top, 0)
            return np.exp(scores - top)
        """,
        "            top = np.where(np.isfinite(top), top, 0)\n",
        "",
        [
            ("powers", (SQUARE, np.array([[True, True, True], [False, False, False], [True, True, False]]))),
            ("powers", (SQUARE + 1, np.array([[False, False, False], [True, False, True], [True, True, True]]))),
            ("powers", (SQUARE / 2, np.array([[False, True, True], [True, False, True], [False, False, False]]))),
        ],
        5,
    ),
    (
        "term-missing",
        """
        import numpy as np
        def slope(scores, targets, padding):
            real = targets != padding
            return (np.tanh(scores) - 0.5) * real[..., None] / real.sum()
        """,
        " * real[..., None]",
        "",
        [
            ("slope", (GRID, np.array([1, 0, 2, 9]), 9)),
            ("slope", (GRID + 1, np.array([9, 0, 9, 3]), 9)),
            ("slope", (GRID / 2, np.array([0, 0, 2, 1]), 0)),
        ],
        4,
    ),
    (
        "term-missing",
        """
        import numpy as np
        def slope(scores, targets, padding):
            real = targets != padding
            grad = np.exp(scores)
            grad[np.arange(len(grad)), np.where(real, targets, 0)] -= 1
            grad = grad * real[..., None] / real.sum()
            return real.sum(), grad
        """,
        " * real[..., None]",
        "",
        [
            ("slope", (GRID, np.array([1, 0, 2, 9]), 9)),
            ("slope", (GRID + 1, np.array([9, 0, 9, 3]), 9)),
            ("slope", (GRID / 2, np.array([0, 0, 2, 1]), 0)),
        ],
        6,
    ),
    (
        "range-wrong",
        """
        def sizes(values, size):
            total, seen = 0.5, []
            for start in range(0, len(values), size):
                part = values[start : start + size]
                total = total * 1.5 + max(part)
                seen.append(len(part) / 2)
            return total, seen
        """,
        "len(values), size)",
        "len(values) - size + 1, size)",
        [("sizes", ([1.5, 2.25, 4.0, 0.5, 3.75], 2)), ("sizes", ([0.5, 1.25, 7.5, 2.5, 1.0], 3))],
        3,
    ),
    (
        "shares-swapped",
        """
        import numpy as np
        def moved(mean, values, share):
            now = values.mean(axis=0)
            return share * mean + (1 - share) * now
        """,
        "share * mean + (1 - share) * now",
        "(1 - share) * mean + share * now",
        [("moved", (SQUARE[0], SQUARE, 0.75)), ("moved", (GRID[1], GRID, 0.875))],
        4,
    ),
    (
        "argument-missing",
        """
        def windows(values, size, stride=1):
            return [values[k : k + size] for k in range(0, len(values) - size + 1, stride)]
        def sums(values, size, stride):
            return [sum(each) for each in windows(values, size, stride=stride)]
        """,
        "size, stride=stride",
        "size",
        [("sums", ([1.5, 2.25, 4.0, 0.5, 3.75], 2, 2)), ("sums", ([0.5, 1.25, 7.5, 2.5], 1, 3))],
        4,
    ),
    (
        "changed-in-place",
        """
        import numpy as np
        def step(c, f, g):
            c = c * f
            return c + np.tanh(g)
        """,
        "c = c * f",
        "c *= f",
        [("step", (GRID, GRID / 8, GRID)), ("step", (GRID + 1, GRID / 9, GRID - 2))],
        3,
    ),
    (
        "order-reversed",
        """
        import numpy as np
        def back(values, rate):
            found, carried = [], 0.0
            for each in reversed(values):
                carried = each + rate * carried
                found.append(carried)
            return np.stack(found[::-1])
        """,
        "found[::-1]",
        "found",
        [("back", ([1.5, 2.25, 4.0], 0.5)), ("back", ([0.5, 1.25, 7.5, 2.5], 0.25))],
        7,
    ),
    (
        "maximum-of-nothing",
        """
        import numpy as np
        def shares(scores):
            top = np.max(scores, axis=-1, keepdims=True, initial=0)
            powers = np.exp(scores - top)
            return powers / powers.sum(axis=-1, keepdims=True)
        """,
        "keepdims=True, initial=0",
        "keepdims=True",
        [("shares", (GRID,)), ("shares", (np.zeros((2, 0)),)), ("shares", (np.zeros((3, 0)),))],
        3,
    ),
    (
        "changed-while-iterated",
        """
        def first(values, gone):
            values = list(values)
            for each in list(values):
                if each == gone:
                    values.remove(each)
            return values
        """,
        "list(values):",
        "values:",
        [("first", ([1, 1, 2, 3], 1)), ("first", ([4, 5, 5, 6, 5], 5)), ("first", ([7, 7, 7, 2], 7))],
        3,
    ),
    (
        "result-dropped",
        """
        def first(text, end):
            text = text.lower()
            return text + end
        """,
        "text = text.lower()",
        "text.lower()",
        [("first", ("Ab", "c")), ("first", ("XYZ", "!")), ("first", ("No", "Yes"))],
        2,
    ),
    (
        "entry-reset",
        """
        def count(words, size):
            found = {}
            for word in words:
                found[word] = found.get(word, 0) + size
            return found
        """,
        "found.get(word, 0) + size",
        "size",
        [("count", (["a", "b", "a"], 0.5)), ("count", (["c", "c", "c", "d"], 0.75)), ("count", (["c", "c"], 1.5))],
        4,
    ),
    (
        "result-of-nothing",
        """
        def first(values, end):
            values = list(values)
            values.sort()
            return values[end:]
        """,
        "values.sort()",
        "values = values.sort()",
        [("first", ([3, 1, 2, 8, 5], 1)), ("first", ([9, 8, 7, 6], 0)), ("first", ([4, 6, 5], 1))],
        3,
    ),
    (
        "name-undefined",
        """
        def total(values):
            result = 0
            for each in values:
                result += each * 2
            return result
        """,
        "result += each * 2",
        "results += each * 2",
        [("total", ([3.5, 1.25],)), ("total", ([9.5, 8.25, 7.5],)), ("total", ([4.5, 6.125],))],
        4,
    ),
    (
        "index-for-entry",
        """
        def first(values, wanted):
            for place in range(len(values)):
                if values[place] == wanted:
                    return place
            return -1
        """,
        "return place",
        "return values[place]",
        [("first", ([11, 12, 13, 14, 15], each)) for each in (12, 13, 14, 15)],
        4,
    ),
    (
        "default-shared",
        """
        def first(nested, flat=None):
            flat = [] if flat is None else flat
            for each in nested:
                flat.append(each)
            return flat
        """,
        "        def first(nested, flat=None):\n            flat = [] if flat is None else flat",
        "        def first(nested, flat=[]):",
        [("first", ([4, 5, 6, 7],)), ("first", ([1, 2, 3, 9],)), ("first", ([8, 5, 3],))],
        1,
    ),
    (
        "case-missing",
        """
        def first(items, steps):
            steps = steps % len(items)
            return items[-steps:] + items[:-steps]
        """,
        "            steps = steps % len(items)\n",
        "",
        [("first", ([1, 2, 3, 4], 7)), ("first", ([5, 6, 7], 8)), ("first", ([5, 6, 7, 1, 2], 13))],
        2,
    ),
    (
        "border-of-nothing",
        """
        def first(x, pad):
            return x[pad : x.shape[0] - pad, pad : x.shape[1] - pad]
        """,
        "pad : x.shape[0] - pad, pad : x.shape[1] - pad",
        "pad:-pad, pad:-pad",
        [("first", (GRID, 0)), ("first", (GRID + 1, 0))],
        2,
    ),
    (
        "index-of-pair",
        """
        import numpy as np


        def spread(length, size):
            places = np.arange(length)[:, None]
            pairs = np.repeat(np.arange(0, size, 2), 2)
            return places * 10000 ** -(pairs / size)
        """,
        "            pairs = np.repeat(np.arange(0, size, 2), 2)\n            return places * 10000 ** -(pairs / size)",
        "            columns = np.arange(size)\n            return places / 10000 ** (2 * columns / size)",
        [("spread", (3, 6)), ("spread", (5, 8))],
        7,
    ),
    (
        "factor-missing",
        """
        def first(x, cache):
            row, column, stride = cache
            top, left = row * stride, column * stride
            return x[top : top + 2, left : left + 2]
        """,
        "row * stride, column * stride",
        "row, column",
        [("first", (GRID, (1, 2, 2))), ("first", (GRID, (1, 1, 2)))],
        3,
    ),
    (
        "lines-likewise",
        """
        def both(x, w, b):
            bi, bf, bo = b
            o = x * w + bo
            f = x * w + bf
            i = x * w + bi
            return o * f / i
        """,
        "            f = x * w + bf\n            i = x * w + bi",
        "            f = x * w + bo\n            i = x * w + bo",
        [("both", (GRID, 0.5, (1.0, 2.5, 0.25))), ("both", (GRID, 2.0, (0.5, 1.5, 0.75)))],
        4,
    ),
    (
        "name-confused",
        """
        def both(x, w, b):
            top = x[0] * w + b
            low = x[1] * w - b
            return top / low
        """,
        "            top = x[0] * w + b\n            low = x[1] * w - b",
        "            top = x[0] * b + b\n            low = x[1] * b - b",
        [("both", (GRID, 0.5, 1.25)), ("both", (GRID + 1, 2.0, 0.75))],
        2,
    ),
    (
        "all-pairs",
        """
        import numpy as np
        def spread(y, target):
            y = np.asarray(y)
            return np.mean((target - y) ** 2)
        """,
        "y = np.asarray(y)",
        "y = np.asarray(y).reshape(-1, 1)",
        [("spread", (row, other)) for row, other in zip(GRID, GRID[::-1], strict=True)],
        3,
    ),
    (
        "all-pairs",
        """
        import numpy as np
        def spread(y, target):
            return np.mean(target == y) + 0.25
        """,
        "return np.mean(target == y) + 0.25",
        "return np.mean(target == y[:, np.newaxis]) + 0.25",
        [
            ("spread", (np.array(a), np.array(b)))
            for a, b in (([0, 1, 1], [0, 1, 0]), ([2, 2], [2, 2]), ([1, 3, 0, 1], [1, 3, 3, 3]))
        ],
        3,
    ),
    (
        "whole-numbers-overflow",
        """
        import numpy as np
        def spread(y, target):
            return np.mean((y - target.astype(float)) ** 2)
        """,
        "target.astype(float)",
        "target",
        [
            ("spread", (PIXELS, PIXELS[::-1])),
            ("spread", (PIXELS[1:], PIXELS[:-1])),
            ("spread", (PIXELS[2:], PIXELS[:-2])),
        ],
        3,
    ),
    (
        "masked-value",
        """
        import numpy as np
        def weights(scores, mask):
            powers = np.exp(np.where(mask, scores, -np.inf))
            return powers / powers.sum(axis=-1, keepdims=True)
        """,
        "-np.inf",
        "0",
        [("weights", (GRID, GRID > 2)), ("weights", (GRID / 2, GRID > 1.5))],
        3,
    ),
    (
        "square-for-spread",
        """
        import numpy as np
        def scaled(x, eps):
            return x / np.sqrt(np.mean(x ** 2, axis=-1, keepdims=True) + eps)
        """,
        "np.mean(x ** 2",
        "np.var(x",
        [("scaled", (GRID, 1e-5)), ("scaled", (2 * GRID + 1, 1e-5))],
        3,
    ),
    (
        "square-for-spread",
        """
        import numpy as np
        def spread(x, eps):
            return np.var(x, axis=0) + eps
        """,
        "np.var(x",
        "np.mean(x ** 2",
        [("spread", (GRID, 1e-5)), ("spread", (2 * GRID + 1, 1e-5))],
        3,
    ),
    (
        "identity-missing",
        """
        import numpy as np
        def inverse(a):
            return np.linalg.solve(a, np.eye(len(a)))
        """,
        "np.eye(len(a))",
        "np.ones((len(a), len(a)))",
        [("inverse", (SQUARE,)), ("inverse", (2 * SQUARE + 1,))],
        3,
    ),
    (
        "repeated-indices",
        BY_INDEX,
        "np.add.at(table, ids, grad)",
        "table[ids] += grad",
        REPEATED,
        4,
    ),
    (
        "repeated-indices",
        BY_INDEX,
        "np.add.at(table, ids, grad)",
        "table[ids] = grad",
        REPEATED,
        4,
    ),
    (
        "norms-added",
        """
        import numpy as np
        def norm(table):
            return np.sqrt((table ** 2).sum())
        """,
        "return np.sqrt((table ** 2).sum())",
        "out = 0.0\n            for row in table:\n                out += np.linalg.norm(row)\n            return out",
        [("norm", (GRID,)), ("norm", (2 * GRID - 1,)), ("norm", (GRID.T + 0.5,))],
        5,
    ),
    (
        "sign-misplaced",
        """
        def first(a, b):
            return a + (-b)
        """,
        "a + (-b)",
        "(-a) + b",
        [("first", (GRID, SQUARE[0, 0] + GRID**2)), ("first", (2 * GRID, GRID - 1))],
        2,
    ),
    (
        "term-twice",
        """
        def first(slope, x, n):
            return 2 * (slope * x / n) + slope
        """,
        "2 * (slope * x / n)",
        "slope * x / n",
        [("first", (GRID, GRID**2, 3)), ("first", (2 * GRID, GRID - 1, 5))],
        2,
    ),
    (
        "parentheses",
        """
        def first(alpha, x, y):
            return x + alpha * y
        """,
        "x + alpha * y",
        "alpha * (x + y)",
        [("first", (1.5, GRID, GRID**2)), ("first", (2.5, GRID - 1, GRID))],
        2,
    ),
    (
        "operator-confused",
        """
        def first(x, alpha):
            out = x.copy()
            out[x < 3] *= alpha
            return out
        """,
        "*=",
        "-=",
        [("first", (GRID, 0.3)), ("first", (GRID * 0.8, 0.7)), ("first", (GRID + 1, 0.25))],
        3,
    ),
    (
        "value-likewise",
        """
        def step(m, v, g, beta1, beta2, t):
            new_m = beta1 * m + (1 - beta1) * g
            new_v = beta2 * v + (1 - beta2) * g ** 2
            m_hat = new_m / (1 - beta1 ** t)
            v_hat = new_v / (1 - beta2 ** t)
            return m_hat / (v_hat ** 0.5 + 0.125)
        """,
        "new_v / (1 - beta2 ** t)",
        "new_v",
        [("step", (GRID, GRID**2, GRID - 1, 0.5, 0.75, 3)), ("step", (GRID + 1, GRID**2, GRID - 2, 0.25, 0.625, 2))],
        5,
    ),
    (
        "function-confused",
        "import numpy as np\ndef bias(grad):\n    return np.sum(grad, axis=0)\n",
        "np.sum(grad",
        "np.mean(grad",
        [("bias", (GRID,)), ("bias", (SQUARE,))],
        3,
    ),
    (
        "comparison-wrong",
        """
        import numpy as np
        def one_hot(targets, values):
            return values * (targets[:, None] == np.arange(6))
        """,
        "==",
        "<=",
        [("one_hot", (np.array([1, 0, 5, 2]), GRID)), ("one_hot", (np.array([3, 3, 0, 1]), GRID + 1))],
        3,
    ),
    (
        "parentheses",
        """
        import numpy as np
        def inverse(x, eps):
            return 1 / np.sqrt(np.var(x, axis=-1) + eps)
        """,
        "axis=-1) + eps)",
        "axis=-1)) + eps",
        [("inverse", (GRID, 0.25)), ("inverse", (SQUARE, 0.5))],
        3,
    ),
    (
        "axes-order",
        """
        import numpy as np
        def pairs(q, k, v):
            return np.tanh(q[:, None, :] + k[None, :, :]) @ v
        """,
        "q[:, None, :] + k[None, :, :]",
        "q[None, :, :] + k[:, None, :]",
        [("pairs", (SQUARE, SQUARE[:2] / 4, SQUARE[0])), ("pairs", (SQUARE[:1], SQUARE / 3, SQUARE[1]))],
        3,
    ),
    (
        "value-aligned",
        """
        import numpy as np
        def through(grad, x, w):
            inner = grad * np.tanh(x)
            total = grad + inner
            return np.exp(total / 9) @ w
        """,
        "grad + inner",
        "inner",
        [("through", (SQUARE, SQUARE / 3, SQUARE[0])), ("through", (SQUARE[:2], SQUARE[:2] / 5, SQUARE[1]))],
        4,
    ),
    (
        "name-confused",
        """
        def share(values, mask, weight):
            rows, columns = values.shape
            real = int(mask.sum())
            return (values * mask).sum() ** 2 * weight / real
        """,
        "/ real",
        "/ (rows * columns)",
        [("share", (GRID, GRID > 2, 0.75)), ("share", (GRID + 1, GRID > 4, 1.25))],
        4,
    ),
    (
        "update-missing",
        """
        import numpy as np
        def descend(columns, rest, rounds):
            weights = np.zeros(len(columns))
            for _ in range(rounds):
                for j, column in enumerate(columns):
                    rest = rest + column * weights[j]
                    weights[j] = np.tanh(column @ rest)
                    rest = rest - column * weights[j]
            return weights
        """,
        "                    rest = rest - column * weights[j]\n",
        "",
        [("descend", (SQUARE / n, SQUARE[0] - n, n)) for n in (1, 2, 3)],
        7,
    ),
    (
        "update-missing",
        """
        def sweep(values, shares, rounds):
            total = 0.0
            for _ in range(rounds):
                for place, value in enumerate(values):
                    total -= shares[place] ** 2
                    shares[place] = value / (1 + total)
                    total += shares[place] ** 2
            return shares
        """,
        "                    total -= shares[place] ** 2\n",
        "",
        [("sweep", ([1.5, 2.25, n + 0.5], [0.5, 0.25, 0.75], n)) for n in (2, 3, 4)],
        5,
    ),
    (
        "round-too-many",
        """
        import numpy as np
        def fit(x, rate, steps):
            weights, losses = np.zeros(3), []
            for step in range(steps + 1):
                losses.append(float((x @ weights - 1.5) @ (x @ weights - 1.5)))
                if step == steps:
                    break
                weights = weights - rate * (x @ weights - 1.5) @ x
            return weights, losses
        """,
        "                if step == steps:\n                    break\n",
        "",
        [("fit", (SQUARE / n, 0.01 * n, n)) for n in (1, 2, 3)],
        6,
    ),
    (
        "name-not-renewed",
        """
        def lowest(losses, patience):
            best, least = 0, losses[0]
            for epoch in range(1, len(losses)):
                if losses[epoch] < least:
                    least = losses[epoch]
                    best = epoch
                elif epoch - best >= patience:
                    return epoch, best, least
            return len(losses), best, least
        """,
        "                    best = epoch\n",
        "",
        [
            ("lowest", ([3.5, 2.5, 1.5, 1.75, 2.0, 2.5], 2)),
            ("lowest", ([3.5, 2.5, 4.0, 5.0, 6.0], 3)),
            ("lowest", ([3.0, 2.5, 1.5, 0.5, 0.25], 2)),
            ("lowest", ([1.5, 2.5, 0.5, 4.0, 4.5, 5.0], 2)),
        ],
        5,
    ),
    (
        "order-for-places",
        """
        import numpy as np
        def codes(labels):
            return np.unique(labels, return_inverse=True)[1], len(labels)
        """,
        "np.unique(labels, return_inverse=True)[1]",
        "np.argsort(labels)",
        [("codes", (np.array([30, -5, 30, 7]),)), ("codes", (np.array([4, 1, 2, 2, 9]),))],
        3,
    ),
    (
        "order-for-places",
        """
        import numpy as np
        def ranks(values):
            return np.argsort(np.argsort(values)) * 0.5
        """,
        "np.argsort(np.argsort(values))",
        "np.argsort(values)",
        [("ranks", (np.array([3.5, -5, 2.5, 7]),)), ("ranks", (np.array([4.0, 1, 2, 8, 0]),))],
        3,
    ),
    (
        "norms-added",
        """
        import math
        def norm(grads):
            return math.sqrt(sum(float((g ** 2).sum()) for g in grads.values()))
        """,
        "math.sqrt(sum(float((g ** 2).sum()) for g in grads.values()))",
        "max(math.sqrt(float((g ** 2).sum())) for g in grads.values())",
        [("norm", ({"a": SQUARE * n, "b": GRID},)) for n in (1, 2, 3)],
        3,
    ),
    (
        "size-missing",
        """
        import numpy as np
        def loss(rows):
            return np.mean(rows ** 2)


        def epoch(x, size):
            summed = 0.0
            for begin in range(0, len(x), size):
                rows = x[begin : begin + size]
                summed += len(rows) * loss(rows)
            return summed / len(x)
        """,
        "len(rows) * loss(rows)",
        "loss(rows)",
        [("epoch", (GRID, 3)), ("epoch", (GRID + 1, 2)), ("epoch", (SQUARE, 2))],
        10,
    ),
    (
        "entry-missing",
        """
        import numpy as np
        class Shift:
            def __init__(self, step):
                self.step = step

            def of(self, x):
                return x + self.step


        class Bend:
            def of(self, x):
                return np.tanh(x)


        def through(x):
            for each in [Shift(2), Bend(), Shift(1), Bend(), Shift(3), Bend(), Shift(4)]:
                x = each.of(x)
            return x
        """,
        "Shift(3), Bend(), ",
        "Shift(3), ",
        [("through", (SQUARE * n,)) for n in (1, 2, 3)],
        16,
    ),
    (
        "name-confused",
        """
        import numpy as np
        def slope(said):
            return 1 - said ** 2


        def back(grad, x, weights):
            said = np.tanh(x @ weights)
            return grad * slope(said)
        """,
        "slope(said)\n        ",
        "slope(x @ weights)\n        ",
        [("back", (SQUARE + n, SQUARE / n, SQUARE)) for n in (1, 2, 3)],
        8,
    ),
    (
        "function-confused",
        """
        import numpy as np
        def scaled(x):
            low, middle, high = (np.quantile(x, each, axis=0) for each in (0.25, 0.5, 0.75))
            return (x - middle) / (high - low)
        """,
        "np.quantile",
        "np.percentile",
        [("scaled", (GRID,)), ("scaled", (SQUARE,))],
        3,
    ),
]


@pytest.mark.parametrize(("id", "right", "old", "new", "calls", "line"), CASES, ids=[case[0] for case in CASES])
def test_an_edit_is_named_by_its_id_and_line(
    id: str, right: str, old: str, new: str, calls: list[Any], line: int
) -> None:
    assert right.count(old) == 1
    found = causes(right, right.replace(old, new), [calls])
    assert [(each.id, each.function, each.line) for each in found] == [(id, calls[0][0], line)]


def test_a_bound_that_is_moved_back_is_written_without_two_steps() -> None:
    right = "def first(values, rank):\n    return values[:rank] * 1.5\n"
    calls: list[Call] = [("first", (GRID, 2)), ("first", (GRID + 1, 3)), ("first", (2 * GRID, 1))]
    (cause,) = causes(right, right.replace(":rank]", ": rank + 1]"), [calls])
    assert cause.id in ("bounds-wrong", "term-superfluous") and "+ 1 - 1" not in cause.fix


@pytest.mark.parametrize(("first", "is_told"), [("x.T @ x", True), ("x.T - x", False)])
def test_an_earlier_definition_is_named_where_it_would_be_right(first: str, is_told: bool) -> None:
    right = "def first(x):\n    y = x.T\n    return y @ x\n"
    wrong = f"def first(x):\n    return {first}\n\n\ndef first(x):\n    y = x + 1.5\n    return y - y.T\n"
    calls: list[Call] = [("first", (GRID,)), ("first", (GRID + 1,)), ("first", (2 * GRID,))]
    found = [(each.id, each.line) for each in causes(right, wrong, [calls])]
    assert (("defined-again", 5) in found) == is_told


def test_a_helper_of_a_module_s_table_is_looked_into() -> None:
    right = """
    import numpy as np


    def _half(x):
        return (1 + np.tanh(x / 2)) / 2


    TABLE = {"half": (_half, 1.5)}


    def first(x, name):
        function, factor = TABLE[name]
        return function(x) * factor
    """
    calls: list[Call] = [("first", (GRID, "half")), ("first", (GRID - 3, "half"))]
    (cause,) = causes(right, right.replace("np.tanh(x / 2)", "np.tanh(x)"), [calls])
    assert (cause.id, cause.function, cause.line) == ("argument-scaled", "_half", 5)


def test_a_first_state_is_made_as_other_functions_make_it() -> None:
    right = """
    def _nothing(g):
        return [0 * each for each in g]


    def plain(g, state):
        old = state.get("speed", _nothing(g))
        return [a + b for a, b in zip(old, g)]


    def step(g, state, momentum):
        old = state.get("speed", _nothing(g))
        return [momentum * a + b for a, b in zip(old, g)]
    """
    head, _, last = right.rpartition('state.get("speed", _nothing(g))')
    calls: list[Call] = [("step", ([1.5, size], {}, 0.5)) for size in (2.25, 3.5, 0.125)]
    (cause,) = causes(right, f'{head}state["speed"]{last}', [calls])
    assert (cause.id, cause.function, cause.line) == ("default-missing", "step", 11)


def test_what_goes_round_in_a_loop_is_wrong_where_it_began() -> None:
    right = """
    def fit(x, y, rate, rounds):
        w = x[0] * 0.0
        for _ in range(rounds):
            error = x @ w - y
            w = w - rate * (x.T @ error) / len(x)
        return w
    """
    calls: list[Call] = [("fit", (SQUARE, SQUARE[0], 0.125, 4)), ("fit", (SQUARE + 1, SQUARE[1], 0.0625, 5))]
    (cause,) = causes(right, right.replace("x.T @ error", "x @ error"), [calls])
    assert (cause.function, cause.line) == ("fit", 5)


def test_a_function_that_draws_at_random_is_explained_by_its_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    right = "def parts(n, rng):\n    order = rng.permutation(n)\n    return order[:2], order[2:]\n"
    wrong = "def parts(n, rng):\n    order = rng.choice(n, n, replace=False)\n    return order[2:], order[:2]\n"

    def heard(runner: LocalRunner, numbers: Any, test: str, again: int, label: str) -> tuple[bool, Heard]:
        runner.choose(numbers)
        first, last = runner.named(label)(5 + again, np.random.default_rng(3))
        runner.choose(())
        return len(first) == 2 and sorted([*first, *last]) == list(range(5 + again)), Heard(label)

    monkeypatch.setattr(LocalRunner, "heard", heard)
    calls: list[Call] = [("parts", (size, np.random.default_rng(size))) for size in (5, 6, 7)]
    (cause,) = causes(right, wrong, [calls])
    assert (cause.id, cause.function, cause.line) == ("elements-swapped", "parts", 3)


def test_an_edit_that_is_held_against_tests_when_the_trials_end_is_seen_to_its_end() -> None:
    heard: Any = lambda *_: (True, Heard("f"))  # noqa: E731
    search: Any = SimpleNamespace(runner=SimpleNamespace(heard=heard))
    budget = Budget(1)
    assert _passes(search, 1, ["one", "other"], "f", budget) and budget.is_over


def test_what_is_drawn_as_right_modules_draw_it_is_no_reason_to_doubt_their_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("grader.diagnosis.edited.DRAWN", 0)
    right = """
    def start(n, rng):
        return rng.standard_normal(n)


    def slope(x, rng):
        weights = start(len(x), rng)
        return weights * x - 0.5 * weights
    """
    calls: list[Call] = [("slope", (np.arange(1.0, size), np.random.default_rng(size))) for size in (5, 6, 7)]
    (cause,) = causes(right, right.replace("* x - 0.5", "* x + 0.5"), [calls])
    assert (cause.function, cause.line) == ("slope", 7)


def test_what_is_left_of_a_reshape_is_no_other_number() -> None:
    right = """
    def parts(values, count):
        return values.reshape(len(values), count, values.shape[1] // count).sum(axis=2)
    """
    wrong = right.replace("values.shape[1] // count", "-1")
    calls: list[Call] = [("parts", (np.zeros((0, 6)), 3))]
    assert causes(right, wrong, [calls], [[("parts", (GRID, 2))]]) == []


def test_a_factor_is_missing_that_has_an_entry_for_each_row_of_a_sum() -> None:
    right = """
    import numpy as np
    def centred(grad, normed):
        n = len(grad)
        return (n * grad - grad.sum(axis=0) - normed * (grad * normed).sum(axis=0)) / n
    """
    wrong = """
    import numpy as np
    def centred(grad, normed):
        stretch = (grad * normed).sum(axis=0) / len(grad)
        return grad - grad.mean(axis=0) - stretch
    """
    calls: list[Call] = [
        ("centred", (SQUARE, SQUARE**2)), ("centred", (GRID, GRID[::-1] / 3)), ("centred", (GRID + 1, GRID / 4))
    ]  # fmt: skip
    (cause,) = causes(right, wrong, [calls])
    assert (cause.id, cause.line) == ("term-missing", 4)


def test_a_call_with_an_empty_array_is_the_last_to_be_looked_into() -> None:
    module = module_of("def mean(x, size):\n    return x.sum() / size")
    made = ended(module, "failing", [("mean", (GRID[0, :0], 3)), ("mean", (GRID[0], 3))], "failed")
    found, _ = Maker(STAGE, [module_of("def mean(x, size):\n    return 0.5 + x.sum() / size")], b"").split(made, False)
    assert [each.is_empty for each in found] == [True, False]


def test_what_stands_twice_in_a_line_is_told_with_what_is_around_it() -> None:
    right = """
    import numpy as np
    def gap(p, q):
        return p * np.where(p > 0, np.log(np.maximum(q, 0.5)) - q, 0.25) + q
    """
    calls: list[Call] = [("gap", (SQUARE - 1, SQUARE[::-1] - 1)), ("gap", (SQUARE - 0.5, SQUARE.T - 1))]
    (cause,) = causes(right, right.replace("p > 0", "q > 0"), [calls])
    assert (cause.text, cause.fix) == ("gap, line 3: `q` is used in `q > 0` where `p` is needed.", "Write `p > 0`.")


def test_of_two_methods_of_one_value_the_names_are_told() -> None:
    right = """
    import numpy as np
    def bias(grad, dim):
        return grad.reshape(-1, dim).sum(axis=0)
    """
    calls: list[Call] = [("bias", (GRID, 3)), ("bias", (GRID, 2)), ("bias", (SQUARE, 3))]
    (cause,) = causes(right, right.replace(").sum", ").mean"), [calls])
    assert cause.text == "bias, line 3: `mean` is called where `sum` is needed."


def test_one_change_at_two_places_names_both_lines() -> None:
    _, right, old, new, calls, _ = next(case for case in CASES if case[0] == "name-confused")
    (cause,) = causes(right, right.replace(old, new), [calls])
    assert "line 2:" in cause.text and "in line 3 too" in cause.text


def test_an_edit_of_whole_numbers_that_leaves_a_call_wrong_is_no_cause() -> None:
    right = """
    def first(values):
        found = []
        for each in values:
            if each not in found:
                found.append(each)
        return found
    """
    wrong = """
    def first(values):
        found = []
        for each in reversed(values):
            if each not in found:
                found.insert(0, each)
        return found
    """
    calls: list[list[Call]] = [[("first", (values,))] for values in ([3, 1], [5, 5, 4], [2, 9, 1, 9])]
    assert causes(right, wrong, calls) == []


def test_a_call_that_an_edit_puts_right_has_to_stay_right() -> None:
    right, wrong = module_of(RIGHT), module_of("def first(values, start):\n    return values[-1]\n")
    failed = [ended(wrong, "failing", [("first", ([1, 2], 0)), ("first", ([4, 3], 0))], "failed")]
    checks = Checks.of(STAGE, failed, [], [right], b"")
    assert len(checks.failing) == 2 and checks.passing(lambda label: True, 9) == []
    checks.mended |= {checks.failing[1]}
    assert checks.passing(lambda label: True, 9) == [checks.failing[1]]


def test_a_test_that_passed_without_being_run_is_run_when_its_calls_are_evidence() -> None:
    right = module_of(RIGHT)
    ran = []

    def planned(test: str, calls: list[Call]) -> Passed:
        each = ended(right, test, calls, "passed")

        def run() -> Ended:
            ran.append(test)
            return Ended(each.outcome, each.records, each.names)

        made = evidence_of(Passed(each.outcome, *calls_of(each.records, each.names), run))
        assert made is not None
        return made

    passed = [planned(f"of {len(values)}", [("first", (values, 0))]) for values in ([1, 2, 3], [1], [1, 2])]
    checks = Checks.of(STAGE, [], passed, [right], b"")
    assert checks.trusted() == {"first"} and checks.passed_tests("first", 2) == ["of 1", "of 2"]
    assert checks.passing(lambda label: label == "other", 9) == [] and ran == []
    assert [each.outcome.test for each in checks.passing(lambda label: True, 2, "first")] == ["of 1", "of 2"]
    assert ran == ["of 1", "of 2"], "the smallest, and no more"
