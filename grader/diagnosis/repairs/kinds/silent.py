"""What NumPy does without a word: a dtype is kept, 0 divides, nothing has a maximum, views change while they swap."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from grader.course.changes import replaced
from grader.diagnosis.slips.statements import Kind
from grader.diagnosis.slips.wording.phrases import called
from grader.diagnosis.trees import walk

MADE = ("array", "asarray", "copy", "zeros_like", "ones_like", "empty_like", "full_like")  # that keep a dtype
FILLED = ("zeros", "ones", "empty")
MOST_OTHERS = 3  # arrays
EXTREMES = ("max", "min", "amax", "amin")


def silent(node: ast.AST, values: Mapping[str, Any]) -> Iterator[ast.AST]:
    """Yield a call with a dtype, or with a value for nothing; an expression with 0 where it is no number.

    And the axes that several arrays have together in the place of those of one; values are those of names.
    """
    if (
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Slice)
        and getattr(node.value, "attr", "") == "shape"
    ):
        yield from _together(node, values)
    if isinstance(node, ast.Call):
        given = {each.arg for each in node.keywords}
        if called(node) in MADE and "dtype" not in given and isinstance(node.func, ast.Attribute) and node.args:
            yield replaced(node, keywords=[*node.keywords, ast.keyword("dtype", _numpy("float64"))])
        if called(node) in EXTREMES and "initial" not in given and isinstance(node.func, ast.Attribute):
            yield replaced(node, keywords=[*node.keywords, ast.keyword("initial", ast.Constant(0))])
        yield from _of_its_dtype(node)
    if isinstance(node, ast.BinOp) and (isinstance(node.op, ast.Div) or _is_product_with_log(node)):
        yield ast.Call(_numpy("where"), [ast.Call(_numpy("isfinite"), [node], []), node, ast.Constant(0)], [])


def _of_its_dtype(node: ast.Call) -> Iterator[ast.AST]:
    """Yield zeros like an array where they have its shape alone: `np.zeros(x.shape)` is float64 whatever x is."""
    if called(node) not in FILLED or len(node.args) != 1 or node.keywords:
        return
    match node.args[0]:
        case ast.Attribute(value=array, attr="shape") | ast.Call(func=ast.Attribute(attr="shape"), args=[array]):
            yield ast.Call(_numpy(f"{called(node)}_like"), [array], [])


def _together(node: ast.Subscript, values: Mapping[str, Any]) -> Iterator[ast.AST]:
    """Yield the axes of two arrays, broadcast, in the place of those of one."""
    own = getattr(getattr(node.value, "value", None), "id", "")
    others = [name for name, held in values.items() if name != own and getattr(held, "ndim", 0) > 0]
    for name in others[:MOST_OTHERS] if own else ():
        other = replaced(node, value=replaced(node.value, value=ast.Name(name, ast.Load())))
        yield ast.Call(_numpy("broadcast_shapes"), [node, other], [])


def shifted(node: ast.FunctionDef, values: Mapping[str, Any]) -> Iterator[tuple[Kind, ast.Assign]]:
    """Yield an argument without its largest entry, in a function that takes exponentials: they grow past all bounds.

    Where quotients of them are what is wanted, nothing else changes by it.
    """
    if not any(isinstance(each, ast.Call) and called(each) == "exp" for each in walk(node)):
        return
    for each in node.args.args:
        held = values.get(each.arg)
        if isinstance(held, np.ndarray) and held.ndim and held.dtype.kind == "f":
            name = ast.Name(each.arg, ast.Load())
            keywords = [ast.keyword("axis", ast.Constant(-1)), ast.keyword("keepdims", ast.Constant(True))]
            largest = ast.Call(ast.Attribute(name, "max", ast.Load()), [], keywords)
            yield "shifted", ast.Assign([ast.Name(each.arg, ast.Store())], ast.BinOp(name, ast.Sub(), largest))


def is_made_finite(old: ast.AST, new: ast.AST) -> bool:
    """Say whether a change gives 0 where an expression is no number."""
    if not isinstance(new, ast.Call) or called(new) != "where" or len(new.args) != 3 or new.args[1] is not old:
        return False
    return isinstance(new.args[0], ast.Call) and called(new.args[0]) == "isfinite"


def swapped_copies(node: ast.Assign) -> Iterator[ast.Assign]:
    """Yield a swap of two parts of an array with copies of them: views change while they are swapped."""
    target, value = node.targets[0], node.value
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple) or len(value.elts) != 2:
        return
    texts = [[ast.unparse(each) for each in side.elts] for side in (target, value)]
    if texts[0] == texts[1][::-1] and all(isinstance(each, ast.Subscript) for each in value.elts):
        copies: list[ast.expr] = [ast.Call(ast.Attribute(each, "copy", ast.Load()), [], []) for each in value.elts]
        yield replaced(node, value=ast.Tuple(copies, ast.Load()))


def _is_product_with_log(node: ast.BinOp) -> bool:
    """Say whether a product has the logarithm of something in it: 0 times the logarithm of 0 is no number."""
    return isinstance(node.op, ast.Mult) and any(
        isinstance(each, ast.Call) and called(each).startswith("log") for each in walk(node)
    )


def _numpy(name: str) -> ast.expr:
    return ast.Attribute(ast.Name("np", ast.Load()), name, ast.Load())
