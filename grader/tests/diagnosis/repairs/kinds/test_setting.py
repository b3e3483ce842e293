"""What a line sets is put right: names in another order, another place, a copy, a name that is never set again."""

from __future__ import annotations

import ast

import pytest

from grader.diagnosis.repairs.kinds.missing import QUICK
from grader.tests.diagnosis.repairs.made import repairs, written

PAIR = "def pair(x):\n    return x, -x\n"
CASES = {
    "results in another order": (
        f"{PAIR}def f(x):\n    low, high = pair(x)\n    return high - low",
        "f(2.0)",
        "high, low = pair(x)\nreturn high - low",
        "the results of pair were taken apart as `low, high`, not as `high, low`",
    ),
    "a result that is thrown away": (
        f"{PAIR}def f(x):\n    low, _ = pair(x)\n    return low",
        "f(2.0)",
        "_, low = pair(x)\nreturn low",
        "the results of pair were taken apart as `low, _`, not as `_, low`",
    ),
    "the places that a mask leaves out": (
        "def f(x):\n    hole = np.isnan(x)\n    x[~hole] = 0.0\n    return x",
        "f(np.array([1.0, np.nan]))",
        "hole = np.isnan(x)\nx[hole] = 0.0\nreturn x",
        "`x[~hole]` were set, where `x[hole]` belongs",
    ),
    "the places of a mask": (
        "def f(x, keep):\n    x[keep, 0] += 1.0\n    return x",
        "f(np.ones((2, 2)), np.array([True, False]))",
        "x[~keep, 0] += 1.0\nreturn x",
        "`x[keep, 0]` were set, where `x[~keep, 0]` belongs",
    ),
    "what is set once for each index": (
        "def f(a, ids, b):\n    a[ids] = b\n    return a",
        "f(np.zeros(3), np.array([1, 1]), np.ones(2))",
        "np.add.at(a, ids, b)\nreturn a",
        "of an index that stands several times in ids only the last counted, where all of them add up in a",
    ),
    "what is added once for each index": (
        "def f(a, ids, b):\n    a[ids] += b\n    return a",
        "f(np.zeros(3), np.array([1, 1]), np.ones(2))",
        "np.add.at(a, ids, b)\nreturn a",
        "of an index that stands several times in ids only the last counted, where all of them add up in a",
    ),
    "one column for those that are chosen": (
        "def f(x, at):\n    x[np.arange(len(at)), 0] = 1.0\n    return x",
        "f(np.zeros((2, 3)), np.array([2, 1]))",
        "x[np.arange(len(at)), at] = 1.0\nreturn x",
        "`x[np.arange(len(at)), 0]` were set, where `x[np.arange(len(at)), at]` belongs",
    ),
    "whole rows": (
        "def f(L, k, p):\n    L[[k, p]] = L[[p, k]]\n    return L",
        "f(np.eye(3), 1, 2)",
        "L[[k, p], :k] = L[[p, k], :k]\nreturn L",
        "`L[[k, p]]` were set, where `L[[k, p], :k]` belongs",
    ),
    "a value that is set once": (
        "def f(x, n):\n    y = x * 2\n    total = x\n    for _ in range(n):\n        x = x + y\n    return x + total",
        "f(np.ones(3), 2)",
        "y = x * 2\ntotal = x\nfor _ in range(n):\n    y = x * 2\n    x = x + y\nreturn x + total",
        "y were set once, before the loop",
    ),
    "another block": (
        "def f(n):\n    x = np.zeros(4 * n)\n    x[:n] = 1.0\n    return x",
        "f(2)",
        "x = np.zeros(4 * n)\nx[n:2 * n] = 1.0\nreturn x",
        "`x[:n]` were set, where `x[n:2 * n]` belongs",
    ),
    "the first block": (
        "def f(n):\n    x = np.zeros(4 * n)\n    x[n : 2 * n] = 1.0\n    return x",
        "f(2)",
        "x = np.zeros(4 * n)\nx[:n] = 1.0\nreturn x",
        "`x[n:2 * n]` were set, where `x[:n]` belongs",
    ),
    "a corner for the middle": (
        "def f(x, h, w, p):\n    y = np.zeros((h + 2 * p, w + 2 * p))\n    y[:h, :w] = x\n    return y",
        "f(np.ones((2, 3)), 2, 3, 1)",
        "y = np.zeros((h + 2 * p, w + 2 * p))\ny[p:p + h, p:p + w] = x\nreturn y",
        "`y[:h, :w]` were set, the corner where the array begins, where `y[p:p + h, p:p + w]` belongs",
    ),
    "what a mask leaves out": (
        "def f(x, real):\n    y = x * 2\n    return y",
        "f(np.ones((2, 3)), np.array([True, False]))",
        "y = x * 2\ny[~real] = 0\nreturn y",
        "y were not set to 0 where the mask real is False",
    ),
    "a row for a column": (
        "def f(x):\n    for i in range(2):\n        for j in range(2):\n            x[j, i] = i\n    return x",
        "f(np.ones((2, 2)))",
        "for i in range(2):\n    for j in range(2):\n        x[i, j] = i\nreturn x",
        "`x[j, i]` were set, where `x[i, j]` belongs",
    ),
    "a table that is the caller's": (
        "def f(state):\n    own = state\n    own['a'] += 1.0\n    return own",
        "f({'a': np.ones(2)})",
        "own = {key: each.copy() for key, each in state.items()}\nown['a'] += 1.0\nreturn own",
        "state itself were changed in place, where a copy belongs",
    ),
    "a name that keeps its first value": (
        "def f(x):\n    best, place = x[0], 0\n    for i in range(1, 3):\n        if x[i] < best:\n"
        "            best = x[i]\n    return best, place",
        "f(np.array([3.0, 1.0, 2.0]))",
        "best, place = (x[0], 0)\nfor i in range(1, 3):\n    if x[i] < best:\n        best = x[i]\n        place = i\n"
        "return (best, place)",
        "place kept its first value, where it has to be set again beside `best = x[i]`",
    ),
    "the index of another": (
        "def f(grad, targets):\n    n = len(targets)\n    grad[np.arange(n), grad.argmax(axis=1)] -= 1\n"
        "    return grad",
        "f(np.ones((2, 3)), np.array([0, 1]))",
        "n = len(targets)\ngrad[np.arange(n), targets] -= 1\nreturn grad",
        "`grad[np.arange(n), grad.argmax(axis=1)]` were set, where `grad[np.arange(n), targets]` belongs",
    ),
    "a name that rounds carry on": (
        "def f(x, t):\n    for _ in range(3):\n        x = x + t\n        if x > 2:\n            return t\n"
        "        t = t / 2\n    return x",
        "f(1.0, 1.0)",
        "_slips_kept_x = x\nfor _ in range(3):\n    x = _slips_kept_x\n    x = x + t\n    if x > 2:\n        return t\n"
        "    t = t / 2\nreturn x",
        "each round of the loop went on from the x that the round before had left",
    ),
    "a return within a loop": (
        "def f(x):\n    s = 0.0\n    for each in x:\n        s = s + each\n        return s",
        "f(np.ones(3))",
        "s = 0.0\nfor each in x:\n    s = s + each\nreturn s",
        "it returned after the first round of the loop",
    ),
}


@pytest.mark.parametrize(("text", "call", "right", "said"), CASES.values(), ids=CASES)
def test_what_a_line_sets_is_put_right_and_told(text: str, call: str, right: str, said: str) -> None:
    assert said in repairs(text, call)[right]


def test_other_targets_are_tried_early() -> None:
    text, call, right, _ = CASES["results in another order"]
    made = written(text, call)
    kinds = {change.kind for change in made.schema("f", QUICK, 1, frozenset())[1]}
    assert "unpacked" in kinds and right


def test_a_name_that_is_thrown_away_stands_for_nothing() -> None:
    made = written(f"{PAIR}def f(x):\n    low, _ = pair(x)\n    return low", "f(2.0)")
    for level in (QUICK, 0, 1, 2):
        changes = made.schema("f", level, 1, frozenset())[1]
        assert all(not (isinstance(each.new, ast.Name) and each.new.id == "_") for each in changes)


def test_a_name_that_a_loop_sets_is_not_set_again() -> None:
    head = "def f(x):\n    last = 0\n    for i in range(3):\n        if x[i] < 2:\n            y = i\n"
    assert _kept(f"{head}    return last + y") == 1
    assert _kept(f"{head}        last = i\n    return last + y") == 0


def _kept(text: str) -> int:
    changes = written(text, "f(np.zeros(3))").schema("f", 0, 1, frozenset())[1]
    return sum(each.kind == "kept" for each in changes)


def test_a_name_that_is_changed_in_place_is_another_in_each_round_and_no_loop_is_made_endless() -> None:
    text = "def f(x, t):\n    for _ in range(3):\n        x += t\n        t = t / 2\n    return x"
    found = repairs(text, "f(np.ones(2), 1.0)")
    assert any("_slips_kept_x = x * 1\n" in each and "    x = _slips_kept_x * 1\n" in each for each in found)
    endless = "def f(x, t):\n    while t < 3:\n        t = t + 1\n        x = x + t\n    return x"
    assert not any("_slips_kept_t" in each for each in repairs(endless, "f(1.0, 1.0)"))


def test_objects_that_have_the_attributes_of_arrays_are_none() -> None:
    text = """
class Box:
    def __init__(self):
        self.ndim, self.size = None, np.array([2, 3])

def f(x, y, n):
    box = Box()
    x[np.arange(n), n] = 1.0
    return x * y / box.size
"""
    assert repairs(text, "f(np.ones((2, 3, 2)), np.ones((2, 3, 2)), 1)")
