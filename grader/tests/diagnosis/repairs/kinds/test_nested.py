"""Steps in another order are tried and told by both texts: a sum of each part, a mean of what has to be a value."""

from __future__ import annotations

import pytest

from grader.tests.diagnosis.repairs.made import repairs

PAIR = "np.ones(2), np.ones(2)"
CASES = {
    "a product of sums": (
        "def f(a, b):\n    return np.sum(a) * np.sum(b)",
        PAIR,
        "return np.sum(a * b)",
        "`np.sum(a) * np.sum(b)` stood where `np.sum(a * b)` belongs",
    ),
    "a difference of sizes": (
        "def f(a, b):\n    return np.abs(a) - np.abs(b)",
        PAIR,
        "return np.abs(a - b)",
        "`np.abs(a) - np.abs(b)` stood where `np.abs(a - b)` belongs",
    ),
    "sizes where the values belong": (
        "def f(a, b):\n    return np.abs(a) - np.abs(b)",
        PAIR,
        "return a - b",
        "`np.abs(a) - np.abs(b)` stood where `a - b` belongs",
    ),
    "a function of the mean": (
        "def f(g, x):\n    return g(np.mean(x))",
        "np.square, np.arange(3.0)",
        "return np.mean(g(x))",
        "`g(np.mean(x))` stood where `np.mean(g(x))` belongs",
    ),
    "a root of the mean": (
        "def f(x):\n    return np.sqrt(x.mean())",
        "np.arange(3.0)",
        "return np.sqrt(x).mean()",
        "`np.sqrt(x.mean())` stood where `np.sqrt(x).mean()` belongs",
    ),
    "a size in front": (
        "def f(x, n):\n    return x.reshape(n, *x.shape[1:])",
        "np.ones((2, 3)), 2",
        "return x.reshape(*x.shape[1:], n)",
        "`x.reshape(n, *x.shape[1:])` stood where `x.reshape(*x.shape[1:], n)` belongs",
    ),
    "the argument where its slope belongs": (
        "def f(x):\n    return x if x > 0 else 0.0",
        "2.0",
        "return 1.0 if x > 0 else 0.0",
        "`x` stood where `1.0` belongs",
    ),
    "the argument for entries above 0": (
        "def f(x):\n    return np.where(x > 0, x, 0.0)",
        "np.ones(2)",
        "return np.where(x > 0, 1.0, 0.0)",
        "`x` stood where `1.0` belongs",
    ),
    "a square of the sum": (
        "def f(s, g):\n    return (s + g) ** 2",
        "2.0, 1.0",
        "return s + g ** 2",
        "`(s + g) ** 2` stood where `s + g ** 2` belongs",
    ),
    "other numbers in a list": (
        "def f(x):\n    return np.percentile(x, [10, 90])",
        "np.arange(5.0)",
        "return np.percentile(x, [25, 75])",
        "`[10, 90]` stood where `[25, 75]` belongs",
    ),
    "a difference for a product": (
        "def f(t, shrink):\n    return t - shrink",
        "2.0, 0.5",
        "return t * shrink",
        "`-` stood where `*` belongs",
    ),
}


@pytest.mark.parametrize(("text", "arguments", "body", "said"), CASES.values(), ids=CASES)
def test_it_is_tried_and_told(text: str, arguments: str, body: str, said: str) -> None:
    found = repairs(text, f"f({arguments})", 25, 75)
    assert body in found, sorted(found)
    assert said in found[body], found[body]


@pytest.mark.parametrize(
    ("text", "arguments", "body"),
    [
        ("def f(x):\n    return len(np.sort(x))", "np.ones(2)", "return np.sort(len(x))"),
        ("def f(a, b):\n    return np.sum(a) * np.mean(b)", PAIR, "return np.sum(a * b)"),
        ("def f(a, b):\n    return np.sum(a, axis=0) * np.sum(b)", PAIR, "return np.sum(a * b, axis=0)"),
        ("def f(n):\n    return n - 1", "3", "return n * 1"),
        ("def f(x, y):\n    return x if x > 0 else y", "2.0, 1.0", "return 1.0 if x > 0 else y"),
        ("def f(x):\n    return np.percentile(x, [25, 90])", "np.ones(2)", "return np.percentile(x, [25, 75, 75])"),
    ],
)
def test_its_nearest_neighbour_is_left_alone(text: str, arguments: str, body: str) -> None:
    assert body not in repairs(text, f"f({arguments})", 25, 75)
