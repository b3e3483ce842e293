"""A stage's tests go over nothing in the order of a set: of texts it differs from run to run, and so would words."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.support.places import HIDDEN, ROOT

FILES = sorted(
    each
    for each in (*HIDDEN.glob("*/*.py"), *(ROOT / "stages").glob("*/tests/*.py"))
    if each.name not in ("__init__.py", "solution.py")
)
ORDERED = ("list", "tuple", "next", "iter", "enumerate", "zip")  # what keeps the order of its arguments


def is_set(node: ast.expr) -> bool:
    """Say whether an expression is a set, as far as its form tells."""
    match node:
        case ast.Set() | ast.SetComp() | ast.Call(ast.Name("set" | "frozenset")):
            return True
        case ast.BinOp(left, ast.Sub() | ast.BitAnd() | ast.BitOr() | ast.BitXor(), right):
            return is_set(left) or is_set(right)
    return False


GOES = (ast.For, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.Call)


def gone_over(node: ast.AST) -> list[ast.expr]:
    """Return what a node goes over from its first to its last."""
    match node:
        case ast.For(iter=each):
            return [each]
        case ast.ListComp(_, parts) | ast.GeneratorExp(_, parts) | ast.DictComp(_, _, parts):
            return [part.iter for part in parts]
        case ast.Call(ast.Name(name), given) if name in ORDERED:
            return given
        case ast.Call(ast.Attribute(ast.Constant(), "join"), given):
            return given
    return []


def found(text: str) -> Iterator[int]:
    """Yield the lines on which a text goes over a set."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, GOES):
            yield from (each.lineno for each in gone_over(node) if is_set(each))


@pytest.mark.parametrize(
    "line",
    ["for x in {1, 2}: pass", "[x for x in set(a) - b]", "', '.join({x for x in a})", "next(iter(frozenset(a)))"],
)
def test_a_line_that_does_is_found(line: str) -> None:
    assert list(found(line)) == [1]


@pytest.mark.parametrize("line", ["for x in sorted({1, 2}): pass", "{x for x in set(a)}", "x in {1, 2}", "len(set(a))"])
def test_a_line_that_does_not_is_not(line: str) -> None:
    assert list(found(line)) == []


def test_no_test_of_a_stage_does() -> None:
    assert len(FILES) > 100
    assert [f"{path.relative_to(ROOT)}:{line}" for path in FILES for line in found(path.read_text("utf-8"))] == []
