"""What is set and never used is known, and is tried where it may belong: a mask as well as a number."""

from __future__ import annotations

import ast

from grader.diagnosis.repairs.kinds.unused import unused_names
from grader.tests.diagnosis.repairs.made import repairs


def test_names_that_are_never_read_are_known() -> None:
    text = (
        "def f(self, x, rate, *, eps=1):\n    left, right = x\n    for _ in range(3):\n        x = left\n    return x"
    )
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.FunctionDef)
    assert list(unused_names(node)) == ["rate", "eps", "right"]


def test_what_checks_alone_read_is_never_used() -> None:
    text = """
def f(x, number, rate, spread, step):
    check_positive(step)
    if number < 1:
        raise ValueError(f"number: {number}")
    rate = np.asarray(rate)
    for each in x:
        spread = each * 2
        if spread == 0:
            continue
        x = x + each
    return x
"""
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.FunctionDef)
    assert list(unused_names(node)) == ["number", "rate", "spread", "step"]
    assert unused_names(node)["spread"] == ["each"]


def test_a_number_that_stands_for_an_argument_is_told() -> None:
    check = "    if number < 1:\n        raise ValueError\n"
    loop = "    for _ in range(1):\n        x = x * 2\n"
    found = repairs(f"def f(x, number):\n{check}{loop}    return x", "f(np.ones(2), 3)")
    changed = next(body for body in found if "range(number)" in body)
    assert "number were always 1, whatever is passed" in found[changed]


def test_a_term_of_which_a_factor_is_never_used_is_tried_as_a_whole() -> None:
    text = "def f(g, z):\n    mean = (g * z).mean(axis=-1, keepdims=True)\n    return (g - 1) / 2"
    found = repairs(text, "f(np.ones((2, 3)), np.ones((2, 3)))")
    assert (
        "z * mean were not subtracted from g"
        in found["mean = (g * z).mean(axis=-1, keepdims=True)\nreturn (g - z * mean - 1) / 2"]
    )


def test_a_mask_that_is_never_used_is_tried_as_one_and_in_the_place_of_another() -> None:
    found = repairs(
        "def f(x, keep):\n    other = x > 0\n    return np.where(other, x * 2, x)", "f(np.ones(2), np.ones(2) > 0)"
    )
    first = "other = x > 0\nreturn "
    assert f"{first}np.where(keep, x * 2, x)" in found
    assert "keep were never used" in found[f"{first}np.where(keep, 0.0, np.where(other, x * 2, x))"]


def test_an_entry_that_is_never_read_stands_in_the_place_of_a_name() -> None:
    text = """
def f(x, cache):
    size = cache["size"]
    return x[: size * size]
"""
    found = repairs(text, "f(np.ones(9), {'size': 2, 'stride': 1, 'name': 'max', 'x': np.ones(2)})")
    assert any("x[:size * cache['stride']]" in body for body in found), "\n\n".join(found)
    assert not any("'name'" in body or "cache['x']" in body for body in found)  # what is of another kind
    assert not any("size * cache['size']" in body for body in found)  # what is read already
