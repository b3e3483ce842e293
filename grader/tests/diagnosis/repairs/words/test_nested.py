"""Only steps in another order, and other numbers, are told by both texts alone."""

from __future__ import annotations

import ast

import pytest

from grader.diagnosis.repairs.words.nested import is_nested


def node(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("f(np.mean(x))", "np.mean(f(x))"),
        ("np.sqrt(x.mean())", "np.sqrt(x).mean()"),
        ("sum(a) * sum(b)", "sum(a * b)"),
        ("abs(a) - abs(b)", "a - b"),
        ("[10, 90]", "[25, 75]"),
    ],
)
def test_it_is_told(old: str, new: str) -> None:
    assert is_nested(node(old), node(new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("f(np.mean(x))", "f(np.sum(x))"),
        ("np.sqrt(np.mean(x))", "np.mean(x)"),
        ("sum(a) * sum(b)", "sum(a) / sum(b)"),
        ("sum(a) * mean(b)", "sum(a * b)"),
        ("[10, 90]", "[90, 10]"),
        ("[10, 90]", "[n, 90]"),
        ("x", "y"),
    ],
)
def test_its_nearest_neighbour_is_not(old: str, new: str) -> None:
    assert not is_nested(node(old), node(new))


def test_a_side_that_stays_is_told_by_what_became_of_the_other() -> None:
    old = node("sum(a) * sum(b)")
    assert isinstance(old, ast.BinOp)
    assert not is_nested(old, ast.BinOp(old.left, ast.Mult(), node("mean(b)")))


def test_a_size_that_changes_its_place_beside_others() -> None:
    old = node("x.reshape(n, *shape)")
    assert isinstance(old, ast.Call)
    assert is_nested(old, ast.Call(old.func, old.args[::-1], []))
    assert not is_nested(old, ast.Call(old.func, old.args[1:], []))
