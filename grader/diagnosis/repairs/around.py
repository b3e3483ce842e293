"""Operations that may be missing around an expression: a sum, a maximum subtracted, a root, a sign."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from grader.diagnosis.slips.formulas import number_node, transposed


def wrapped(node: ast.expr, value: Any, inner: bool) -> Iterator[ast.AST]:
    """Yield what may be missing around an expression."""
    dimensions = getattr(value, "ndim", 0)
    if dimensions:
        for axis in (0, -1):
            yield _method(node, "sum", axis, keepdims=False)
        for name in ("sum", "mean"):
            yield _method(node, name, -1, keepdims=True)
        for name in ("mean", "max"):
            yield ast.BinOp(node, ast.Sub(), _method(node, name, -1, keepdims=True))
        yield ast.Call(ast.Attribute(node, "copy", ast.Load()), [], [])
    if dimensions > 1:
        yield transposed(node)
    for name in ("sqrt", "exp", "log", "square", "abs"):
        yield ast.Call(ast.Attribute(ast.Name("np", ast.Load()), name, ast.Load()), [node], [])
    yield ast.Call(ast.Attribute(ast.Name("np", ast.Load()), "maximum", ast.Load()), [node, ast.Constant(0.0)], [])
    yield ast.UnaryOp(ast.USub(), node)
    yield ast.BinOp(ast.Constant(1), ast.Sub(), node)
    if inner:
        return
    yield ast.BinOp(node, ast.Sub(), ast.Constant(1))
    yield ast.BinOp(node, ast.Add(), ast.Constant(1))
    yield ast.BinOp(node, ast.Div(), ast.Constant(2))
    yield ast.BinOp(node, ast.Mult(), ast.Constant(2))


def _method(node: ast.expr, name: str, axis: int, keepdims: bool) -> ast.expr:
    keywords = [ast.keyword("axis", number_node(axis))]
    if keepdims:
        keywords.append(ast.keyword("keepdims", ast.Constant(True)))
    return ast.Call(ast.Attribute(node, name, ast.Load()), [], keywords)
