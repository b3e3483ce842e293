"""What a value is taken for, and steps beside a condition, are put right and told in the learner's own names."""

from __future__ import annotations

import pytest

from grader.tests.diagnosis.repairs.made import repairs

RULE = "def f(x, y, rate):\n    total = np.zeros(2)\n    for i in range(3):\n"
COUNT = "def f(x):\n    n = 0\n    s = 0\n    for each in x:\n"
CASES = {
    "a column for what was made of it": (
        "def f(a):\n    v = a[:, 0] - 1.0\n    return a[:, 0] @ a",
        "f(np.ones((2, 2)))",
        "v = a[:, 0] - 1.0\nreturn v @ a",
        "`a[:, 0]` stood where `v` belongs",
    ),
    "the largest entry for the length": (
        "def f(w):\n    return w / np.max(np.abs(w))",
        "f(np.ones(3))",
        "return w / np.linalg.norm(w)",
        "`np.max(np.abs(w))` stood where `np.linalg.norm(w)` belongs",
    ),
    "the sum for the length": (
        "def f(w):\n    return w / w.sum()",
        "f(np.ones(3))",
        "return w / np.linalg.norm(w)",
        "`w.sum()` stood where `np.linalg.norm(w)` belongs",
    ),
    "a vector of any length": (
        "def f(w):\n    v = w\n    return v",
        "f(np.ones(3))",
        "v = w / np.linalg.norm(w)\nreturn v",
        "w were not divided by the norm of w",
    ),
    "a factor that is a row": (
        f"{RULE}        delta = y[i] - x[i] @ total\n        total = total + rate * delta\n    return total",
        "f(np.ones((3, 2)), np.ones(3), 0.5)",
        "total = np.zeros(2)\nfor i in range(3):\n    delta = y[i] - x[i] @ total\n"
        "    total = total + rate * delta * x[i]\n"
        "return total",
        "(rate * delta) were not multiplied by x[i]",
    ),
    "a step in front of its condition": (
        f"{COUNT}        n += 1\n        if each > 0:\n            s += each\n    return n, s",
        "f([1.0, 2.0])",
        "n = 0\ns = 0\nfor each in x:\n    if each > 0:\n        n += 1\n        s += each\nreturn (n, s)",
        "the step that sets n stood outside of the condition",
    ),
    "a step behind its condition": (
        f"{COUNT}        if each > 0:\n            s += each\n        n += 1\n    return n, s",
        "f([1.0, 2.0])",
        "n = 0\ns = 0\nfor each in x:\n    if each > 0:\n        s += each\n        n += 1\nreturn (n, s)",
        "the step that sets n stood outside of the condition",
    ),
    "a step under a condition": (
        f"{COUNT}        if each > 0:\n            s += each\n            n += 1\n    return n, s",
        "f([1.0, 2.0])",
        "n = 0\ns = 0\nfor each in x:\n    if each > 0:\n        s += each\n    n += 1\nreturn (n, s)",
        "the step that sets n stood under the condition",
    ),
    "two slices that begin too late": (
        "def f(u, k):\n    u[0, k + 2:] -= 2.0 * u[1, k + 2:]\n    return u",
        "f(np.ones((2, 4)), 0)",
        "u[0, k:] -= 2.0 * u[1, k:]\nreturn u",
        "`u[0, k + 2:]` were set, where `u[0, k:]` belongs",
    ),
    "a vector in another order": (
        "def f(y, order):\n    return np.argsort(y)",
        "f(np.ones(3), np.arange(3))",
        "return np.argsort(y[order])",
        "y were used where y[order] belongs",
    ),
    "larger for unequal": (
        "def f(x, i):\n    return [k for k in x if k > i]",
        "f([1, 2], 1)",
        "return [k for k in x if k != i]",
        "`>` stood where `!=` belongs in the comparison of k with i",
    ),
    "an order of two keys": (
        "def f(x):\n    return sorted(x, key=lambda each: (each, -x[each]))",
        "f({1: 2, 2: 3})",
        "return sorted(x, key=lambda each: (-x[each], each))",
        "-x[each] and each stood in the other order",
    ),
    "a row for a column": (
        "def f(a, k):\n    return np.argmax(a[k, k:])",
        "f(np.ones((3, 3)), 1)",
        "return np.argmax(a[k:, k])",
        "`a[k, k:]` stood where `a[k:, k]` belongs",
    ),
    "a first round too many": (
        "def f(n):\n    return [k for k in range(n)]",
        "f(3)",
        "return [k for k in range(1, n)]",
        "the loop had a first round too many",
    ),
    "brackets": (
        "def f(z):\n    return 0.5 * z * 1 + np.tanh(z)",
        "f(np.ones(3))",
        "return 0.5 * z * (1 + np.tanh(z))",
        "the brackets around `1 + np.tanh(z)` were missing",
    ),
    "another entry of the diagonal": (
        "def f(a, i, k):\n    return a[i, k] / a[i, i]",
        "f(np.ones((3, 3)), 1, 2)",
        "return a[i, k] / a[k, k]",
        "`a[i, i]` stood where `a[k, k]` belongs",
    ),
    "a one that is divided, too": (
        "def f(n, stride):\n    return (n + 1) // stride",
        "f(5, 2)",
        "return n // stride + 1",
        "`(n + 1) // stride` stood where `n // stride + 1` belongs",
    ),
    "brackets in an exponent": (
        "def f(x, n):\n    return n * x ** n - 1",
        "f(2.0, 3)",
        "return n * x ** (n - 1)",
        "the brackets around `n - 1` were missing",
    ),
    "brackets around a sign": (
        "def f(n):\n    return -1 ** n",
        "f(3)",
        "return (-1) ** n",
        "the brackets around `-1` were missing",
    ),
    "a square of ones for a diagonal": (
        "def f(n, a):\n    return a * np.ones((n, n))",
        "f(2, 3.0)",
        "return a * np.eye(n)",
        "`np.ones((n, n))` stood where `np.eye(n)` belongs",
    ),
    "a full square for a diagonal": (
        "def f(n, a):\n    return np.full((n, n), a)",
        "f(2, 3.0)",
        "return a * np.eye(n)",
        "`np.full((n, n), a)` stood where `a * np.eye(n)` belongs",
    ),
    "steps that are not counted": (
        "def f(x, p, n, s):\n    return x[p:p + n:s]",
        "f(np.ones(9), 1, 2, 3)",
        "return x[p:p + s * n:s]",
        "the slice `p:p + n:s` ended too early, where a step stands between two entries",
    ),
    "a correction": (
        "def f(x, v):\n    return v * len(x) / (len(x) - 1)",
        "f(np.ones(3), np.ones(2))",
        "return v",
        "`v * len(x) / (len(x) - 1)` stood where `v` belongs",
    ),
    "a start that is a part": (
        "def f(x):\n    total = x[0]\n    for each in x:\n        total = total + each\n    return total",
        "f(np.ones((2, 3)))",
        "total = np.zeros_like(x[0])\nfor each in x:\n    total = total + each\nreturn total",
        "total began with `x[0]`, where it begins with zeros",
    ),
    "an amount with one sign": (
        "def f(z, t):\n    return z - t",
        "f(np.ones(3), 0.5)",
        "return z - np.sign(z) * t",
        "t were not multiplied by the sign of z",
    ),
    "the first axis for the last": (
        "def f(x):\n    return x.sum(axis=0)",
        "f(np.ones(3))",
        "return x.sum(axis=-1)",
        "it worked along the first axis instead of the last axis",
    ),
    "what an entry is set to": (
        "def f(R, v):\n    length = np.linalg.norm(v)\n    R[0] = v @ v\n    return R, length",
        "f(np.ones(2), np.ones(3))",
        "length = np.linalg.norm(v)\nR[0] = length\nreturn (R, length)",
        "the product of v and v were used where length belongs",
    ),
    "what another loop counts": (
        "def f(x):\n    for i in range(2):\n        for j in range(2):\n"
        "            x[i, i] = x[i, i] + 1\n    return x",
        "f(np.ones((2, 2)))",
        "for i in range(2):\n    for j in range(2):\n        x[i, i] = x[i, j] + 1\nreturn x",
        "i were used where j belongs",
    ),
    "an exponent": (
        "def f(z):\n    return 3 * z ** 3",
        "f(np.ones(3))",
        "return 3 * z ** 2",
        "`z ** 3` stood where `z ** 2` belongs",
    ),
    "a size where a count belongs": (
        "def f(x, real):\n    count = int(real.sum())\n    return x.sum() / real.size",
        "f(np.ones(3), np.array([1.0, 1.0, 0.0]))",
        "count = int(real.sum())\nreturn x.sum() / count",
        "the number of entries of real were used where count belongs",
    ),
    "sizes that are added up": (
        "def f(x):\n    norm = np.sum(np.abs(x), axis=-1, keepdims=True)\n    return x / norm",
        "f(np.ones((2, 3)))",
        "norm = np.sqrt(np.sum(x ** 2, axis=-1, keepdims=True))\nreturn x / norm",
        "`np.sum(np.abs(x), axis=-1, keepdims=True)` stood where "
        "`np.sqrt(np.sum(x ** 2, axis=-1, keepdims=True))` belongs",
    ),
}


@pytest.mark.parametrize(("text", "call", "right", "said"), CASES.values(), ids=CASES)
def test_it_is_put_right_and_told(text: str, call: str, right: str, said: str) -> None:
    found = repairs(text, call)
    assert said in found[right], "\n".join(found)


@pytest.mark.parametrize(
    ("text", "call", "wrong"),
    [
        ("def f(a):\n    v = a[:, 0]\n    return v", "f(np.ones((2, 2)))", "v = v\nreturn v"),
        ("def f(a, v):\n    return a[0] + 1.0", "f(np.ones(3), np.ones(3))", "return v + 1.0"),
        ("def f(w):\n    return w / np.max(w)", "f(np.ones((2, 2)))", "return w / np.linalg.norm(w)"),
    ],
    ids=["what gives it its name", "a number", "a matrix"],
)
def test_what_is_no_natural_slip_is_not_tried(text: str, call: str, wrong: str) -> None:
    assert wrong not in repairs(text, call)
