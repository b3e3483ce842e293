"""What NumPy does without a word is put right: dtypes, a division by 0, nothing that has a maximum, views, axes."""

from __future__ import annotations

import ast

import pytest

from grader.diagnosis.repairs.kinds.silent import is_made_finite
from grader.tests.diagnosis.repairs.made import repairs

CASES = {
    "a dtype that is kept": (
        "def f(x):\n    x = np.array(x)\n    return x",
        "f(np.array([1, 2]))",
        "x = np.array(x, dtype=np.float64)\nreturn x",
        "x kept its dtype, where float64 belongs: integers lose what stands behind the point",
    ),
    "zeros that are float64": (
        "def f(x):\n    y = np.zeros(x.shape)\n    return y",
        "f(np.ones(2, np.float32))",
        "y = np.zeros_like(x)\nreturn y",
        "an array of zeros were float64, whatever the dtype of x",
    ),
    "zeros of a shape that is asked for": (
        "def f(x):\n    y = np.zeros(np.shape(x))\n    return y",
        "f(np.ones(2, np.float32))",
        "y = np.zeros_like(x)\nreturn y",
        "an array of zeros were float64, whatever the dtype of x",
    ),
    "a maximum of nothing": (
        "def f(x):\n    return np.max(x)",
        "f(np.ones(1))",
        "return np.max(x, initial=0)",
        "the maximum of x were taken where it is empty, too",
    ),
    "a division by 0": (
        "def f(x, n):\n    return x / n",
        "f(np.ones(2), 2.0)",
        "return np.where(np.isfinite(x / n), x / n, 0)",
        "nothing kept `x / n` from a division by 0, where the result is 0",
    ),
    "a logarithm of 0": (
        "def f(p):\n    return p * np.log(p)",
        "f(np.ones(2))",
        "return np.where(np.isfinite(p * np.log(p)), p * np.log(p), 0)",
        "`p * np.log(p)` were taken at 0, too, where 0 times the logarithm of 0 is no number and 0 belongs",
    ),
    "exponentials that overflow": (
        "def f(x):\n    y = np.exp(x)\n    return y / y.sum()",
        "f(np.ones(3))",
        "x = x - x.max(axis=-1, keepdims=True)\ny = np.exp(x)\nreturn y / y.sum()",
        "the largest entry of x were not subtracted before the exponential, which overflows",
    ),
    "rows that are views": (
        "def f(x, i, k):\n    x[i], x[k] = x[k], x[i]\n    return x",
        "f(np.ones((2, 2)), 0, 1)",
        "x[i], x[k] = (x[k].copy(), x[i].copy())\nreturn x",
        "`x[i]` and `x[k]` were swapped as views, so that the same numbers stand in both and the others are lost",
    ),
    "the axes of one array": (
        "def f(x, y):\n    axes = x.shape[:-1]\n    return np.zeros(axes)",
        "f(np.ones((2, 2)), np.ones((3, 2, 2)))",
        "axes = np.broadcast_shapes(x.shape[:-1], y.shape[:-1])\nreturn np.zeros(axes)",
        "`x.shape[:-1]` stood where `np.broadcast_shapes(x.shape[:-1], y.shape[:-1])` belongs",
    ),
}


@pytest.mark.parametrize(("text", "call", "body", "said"), CASES.values(), ids=CASES)
def test_each_is_tried_and_told(text: str, call: str, body: str, said: str) -> None:
    assert said in repairs(text, call)[body]


def test_numbers_are_swapped_as_they_are() -> None:
    """Names stand for values, not for views: a swap of two of them is right."""
    assert not any("copy" in each for each in repairs("def f(a, b):\n    a, b = b, a\n    return a - b", "f(1.0, 2.0)"))


def test_only_what_gives_0_where_there_is_no_number_is_that() -> None:
    old = ast.parse("x / n", mode="eval").body
    plain = ast.parse("np.where(n > 0, x, 0)", mode="eval").body
    assert not is_made_finite(old, plain)
    assert not is_made_finite(old, old)
