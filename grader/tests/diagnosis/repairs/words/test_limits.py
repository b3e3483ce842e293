"""What is said of a bound, of one of two cases, of a mask that is never used, and of a step that comes too early."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from grader.diagnosis.repairs.words.limits import always
from grader.diagnosis.repairs.words.told import told
from grader.diagnosis.slips.schema import Change
from grader.diagnosis.slips.wording.phrases import Vocabulary
from grader.tests.diagnosis.repairs.made import repairs

LOOP = "def f(x):\n    total = 0.0\n    for i in range({}):\n        total += x[i]\n    return total"
CASES = {
    "what goes through a set first": (
        "def f(x):\n    return len(set(x))",
        "f([1.0, 1.0])",
        "def f(x):\n    return len(x)",
        "`set(x)` stood where `x` belongs",
    ),
    "a round too few": (
        LOOP.format("len(x) - 1"),
        "f(np.ones(3))",
        LOOP.format("len(x)"),
        "the loop made one round too few",
    ),
    "a round too many": (
        LOOP.format("len(x)"),
        "f([1.0])",
        LOOP.format("len(x) - 1"),
        "the loop made one round too many",
    ),
    "one of two cases": (
        "def f(m, n):\n    if m == 1:\n        m = n\n    return m",
        "f(1, 2)",
        "def f(m, n):\n    if m == 1:\n        m = n\n    elif n == 1:\n        n = m\n    return m",
        "the case `m == 1` were treated alone, and `n == 1` were not",
    ),
    "a mask that is never used": (
        "def f(p, q):\n    never = (p > 0) & (q == 0)\n    shares = p - q\n    return shares.sum()",
        "f(np.ones(2), np.ones(2))",
        "def f(p, q):\n    never = (p > 0) & (q == 0)\n    shares = np.where(never, np.inf, p - q)\n"
        "    return shares.sum()",
        "never were never used",
    ),
    "a value in one case alone": (
        "def f(x):\n    k = x + 1 if x > 2 else 0\n    return k",
        "f(1.0)",
        "def f(x):\n    k = x + 1\n    return k",
        "`x + 1` were taken only where `x > 2`",
    ),
    "a value in the other case alone": (
        "def f(x):\n    k = 0 if x > 2 else x + 1\n    return k",
        "f(3.0)",
        "def f(x):\n    k = x + 1\n    return k",
        "`x + 1` were taken only where it is not so that `x > 2`",
    ),
    "a step that comes too early": (
        "def f(x):\n    found = []\n    for i in range(3):\n        found.append(x)\n        x = x + i\n"
        "        x = x * 2\n    return found",
        "f(1.0)",
        "def f(x):\n    found = []\n    for i in range(3):\n        x = x + i\n        x = x * 2\n"
        "        found.append(x)\n    return found",
        "`found.append(x)` came before the other steps of a round",
    ),
    "a step that depends on nothing": (
        "def f(x, old):\n    new = x + 1\n    if old is None:\n        old = new\n    return old",
        "f(1.0, None)",
        "def f(x, old):\n    new = x + 1\n    if True:\n        old = new\n    return old",
        "`old = new` were done only if `old is None`",
    ),
    "a loop that ends too early": (
        "def f(x):\n    s = 0.0\n    for each in x:\n        if each == 0:\n            break\n"
        "        s = s + each\n    return s",
        "f([1.0, 0.0])",
        "def f(x):\n    s = 0.0\n    for each in x:\n        if False:\n            break\n"
        "        s = s + each\n    return s",
        "the loop ended as soon as `each == 0`",
    ),
    "rounds that are left out": (
        "def f(x):\n    s = 0.0\n    for each in x:\n        if each < 0:\n            continue\n"
        "        s = s + each\n    return s",
        "f([1.0, -1.0])",
        "def f(x):\n    s = 0.0\n    for each in x:\n        if False:\n            continue\n"
        "        s = s + each\n    return s",
        "rounds were left out in which `each < 0`",
    ),
}


@pytest.mark.parametrize(("text", "call", "right", "said"), CASES.values(), ids=CASES)
def test_each_is_told(text: str, call: str, right: str, said: str) -> None:
    found = {body.replace("\n\n", "\n"): each for body, each in repairs(text, call).items()}
    body = "\n".join(line[4:] for line in right.splitlines()[1:])
    assert any(said in each for each in found.get(body, ())), found.keys()


def test_of_a_value_without_a_name_both_formulas_are_told() -> None:
    found = repairs("def f(x, y):\n    slope = x - 1\n    return float(x) * y", "f(2.0, 3.0)")
    assert found["slope = x - 1\nreturn slope"] == ["`float(x) * y` stood where `slope` belongs"]


def test_an_index_is_no_part_of_what_it_is_an_index_of() -> None:
    old = ast.parse("x[k, 0]", mode="eval").body
    assert isinstance(old, ast.Subscript) and isinstance(old.slice, ast.Tuple)
    statement = ast.Return(old)
    change = Change(1, "f", old, old.slice.elts[0], statement, statement)
    say = Vocabulary(frozenset({"x", "k"}), is_own=True)
    clause = told(change, say)
    assert clause is None or "only a part" not in clause.said
    assert "only a part of x" in str(told(replace(change, new=old.value), say))


def test_a_value_of_a_table_is_told_by_its_key() -> None:
    found = repairs("def f(n):\n    table = {'bias': np.ones(n)}\n    return table", "f(3)")
    said = found["table = {'bias': np.zeros(n)}\nreturn table"]
    assert "an array of ones were taken instead of an array of zeros for bias" in said


@pytest.mark.parametrize(
    "text",
    [
        "if v:\n    for i in r:\n        x += i",
        "if v:\n    log(x)\n    raise ValueError",
        "if v:\n    x = 1\nelse:\n    x = 2",
        "if v:\n    return x",
    ],
)
def test_of_a_condition_without_which_something_else_happens_nothing_is_said(text: str) -> None:
    old = ast.parse(text).body[0]
    assert always(old, True) is None and always(old, False) is None
