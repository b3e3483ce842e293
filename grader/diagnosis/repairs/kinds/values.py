"""What the sorts of values, and single nodes of a text, say: whether a term fits, whether a name is a call's."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import numpy as np

from grader.diagnosis.slips.wording.names import are_kin

MOST_OF_A_SCORE = 50  # numbers above may stand for infinity


def is_far(old: ast.AST, new: ast.AST) -> bool:
    """Say whether one name stands for another that has nothing in common with it."""
    names = [getattr(each, "id", getattr(each, "attr", getattr(each, "value", None))) for each in (old, new)]
    if not isinstance(new, type(old)) or not all(isinstance(each, str) for each in names):
        return False
    return not are_kin(str(names[0]), str(names[1]))


def is_large(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and node.value > MOST_OF_A_SCORE


def is_idle(node: ast.AST) -> bool:
    """Say whether an expression multiplies or divides by 1, or adds 0: what helps is that something else is gone."""
    match node:
        case ast.BinOp(op=ast.Mult(), left=ast.Constant(value=1)):
            return True
        case ast.BinOp(op=ast.Mult() | ast.Div() | ast.FloorDiv() | ast.Pow(), right=ast.Constant(value=1)):
            return True
        case ast.BinOp(op=ast.Add(), left=ast.Constant(value=0)):
            return True
        case ast.BinOp(op=ast.Add() | ast.Sub(), right=ast.Constant(value=0)):
            return True
        case ast.BinOp(op=ast.Mult(), left=ast.BinOp(left=ast.Constant(), right=ast.Constant())):
            return True
    return False


def tells(old: ast.AST, new: ast.AST, holder: ast.AST) -> bool:
    """Say whether a change that helps tells of a cause: it does something, and does not make away with all there is."""
    return not is_idle(new) and not vanishes(old, new, holder)


def vanishes(old: ast.AST, new: ast.AST, holder: ast.AST) -> bool:
    """Say whether a factor, a dividend or a power becomes 0: what helps is that all of it is gone."""
    is_zero = isinstance(old, ast.Constant) and isinstance(new, ast.Constant) and new.value == 0 != old.value
    if not is_zero or not isinstance(holder, ast.BinOp):
        return False
    is_dividend = isinstance(holder.op, (ast.Div, ast.FloorDiv)) and holder.left is old
    is_power = isinstance(holder.op, ast.Pow) and holder.right is old
    return isinstance(holder.op, ast.Mult) or is_dividend or is_power


def is_called(node: ast.AST, holder: ast.AST) -> bool:
    return isinstance(holder, ast.Call) and holder.func is node


def is_number(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fiub"
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def fits(term: Any, value: Any) -> bool:
    """Say whether a term may be added to, or multiplied with, a value, so that its shape stays."""
    if not isinstance(value, np.ndarray) or not isinstance(term, np.ndarray):
        return not isinstance(term, np.ndarray) or isinstance(value, np.ndarray)
    try:
        return bool(np.broadcast_shapes(term.shape, value.shape) == value.shape)
    except ValueError:
        return False


def sqrt(node: ast.expr) -> ast.expr:
    return ast.BinOp(node, ast.Pow(), ast.Constant(0.5))


def left_out(node: ast.Call, name: str, definitions: Mapping[str, ast.FunctionDef]) -> list[str]:
    """Return the arguments that a call of a function of the module, or of a method of its classes, leaves out."""
    if isinstance(node.func, ast.Name):
        found = [definitions.get(name), definitions.get(f"{name}.__init__")]
    else:
        found = [own for full, own in definitions.items() if full.endswith(f".{name}")]
    names: dict[str, None] = {}
    for own in filter(None, found):
        arguments = [each.arg for each in (*own.args.args, *own.args.kwonlyargs) if each.arg != "self"]
        names |= dict.fromkeys(arguments[len(node.args) :])
    return list(names)
