"""Draws of another kind, with replacement, or where zeros belong, are put right and told."""

from __future__ import annotations

import ast

import pytest

from grader.diagnosis.repairs.kinds.draws import other_draws
from grader.tests.diagnosis.repairs.made import repairs

RNG = "np.random.default_rng(1)"
CASES = {
    "normal for uniform from 0 to 1": (
        "def f(x, rng):\n    return x * (rng.normal(size=x.shape) >= 0.5)",
        f"f(np.ones(3), {RNG})",
        "return x * (rng.random(x.shape) >= 0.5)",
        "numbers were drawn from a normal distribution where they are to be drawn uniformly from 0 to 1",
    ),
    "normal for uniform between limits": (
        "def f(limit, rng):\n    w = rng.normal(0.0, limit, (2, 3))\n    return w",
        f"f(0.5, {RNG})",
        "w = rng.uniform(-limit, limit, (2, 3))\nreturn w",
        "w were drawn from a normal distribution where they are to be drawn uniformly",
    ),
    "uniform for normal": (
        "def f(limit, rng):\n    w = rng.uniform(-limit, limit, (2, 3))\n    return w",
        f"f(0.5, {RNG})",
        "w = rng.normal(0.0, limit, (2, 3))\nreturn w",
        "w were drawn uniformly where they are to be drawn from a normal distribution",
    ),
    "uniform from 0 to 1 for normal": (
        "def f(rng):\n    w = rng.random((2, 3))\n    return w",
        f"f({RNG})",
        "w = rng.standard_normal((2, 3))\nreturn w",
        "w were drawn uniformly from 0 to 1 where they are to be drawn from a normal distribution",
    ),
    "at random for zeros": (
        "def f(rng):\n    params = {}\n    params['bias'] = rng.normal(0.0, 0.1, 3)\n    return params",
        f"f({RNG})",
        "params = {}\nparams['bias'] = np.zeros(3)\nreturn params",
        "`params['bias']` were drawn at random where zeros belong",
    ),
    "a choice that repeats": (
        "def f(n, rng):\n    order = rng.choice(n, size=n)\n    return order",
        f"f(3, {RNG})",
        "order = rng.choice(n, size=n, replace=False)\nreturn order",
        "numbers were drawn with replacement, some of them several times, where each is drawn once",
    ),
    "integers that repeat": (
        "def f(n, rng):\n    order = rng.integers(0, n, n)\n    return order",
        f"f(3, {RNG})",
        "order = rng.permutation(n)\nreturn order",
        "numbers were drawn with replacement, some of them several times, where each is drawn once",
    ),
    "numbers of another array": (
        "def f(rng, n):\n    a = rng.normal(0.0, 1.0, size=n)\n    b = a.copy()\n"
        "    c = rng.normal(0.0, 1.0, size=n)\n    return a + b + c",
        "f(np.random.default_rng(1), 3)",
        "a = rng.normal(0.0, 1.0, size=n)\nb = rng.normal(0.0, 1.0, size=n)\n"
        "c = rng.normal(0.0, 1.0, size=n)\nreturn a + b + c",
        "`a.copy()` stood where `rng.normal(0.0, 1.0, size=n)` belongs",
    ),
}


@pytest.mark.parametrize(("text", "call", "right", "said"), CASES.values(), ids=CASES)
def test_it_is_put_right_and_told(text: str, call: str, right: str, said: str) -> None:
    found = repairs(text, call)
    assert said in found[right], "\n".join(found)


@pytest.mark.parametrize(
    "text", ["rng.choice(n, n, False)", "rng.choice(n, n, replace=False)", "np.sum(x)", "f(x)", "rng.normal()"]
)
def test_of_other_calls_nothing_is_tried(text: str) -> None:
    assert not list(other_draws(ast.parse(text, mode="eval").body))
