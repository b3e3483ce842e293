"""Expressions that only wrap another one: `(x,)[0]`, `x + 0`, `not not x`, `(lambda: x)()`."""

from __future__ import annotations

import ast
from collections.abc import Container

_PURE = (
    *(ast.Constant, ast.Name, ast.Lambda, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.BinOp, ast.UnaryOp),
    *(ast.BoolOp, ast.Compare, ast.Attribute, ast.Subscript, ast.IfExp, ast.Slice, ast.Starred),
    *(ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context, ast.arguments, ast.arg),
)


def inner(node: ast.AST, unread: Container[str], same: Container[str]) -> ast.expr | None:
    """Return the expression that a node only wraps; None where it does something.

    unread holds names that the text never reads, same those of functions that return their only argument.
    """
    match node:
        case ast.Subscript(value=ast.Tuple() | ast.List() as row, slice=index, ctx=ast.Load()):
            return _picked(row.elts, index)
        case ast.Subscript(
            value=ast.Dict(keys=[ast.Constant(value=key)], values=[value]), slice=ast.Constant(value=at)
        ):
            return value if type(key) is type(at) and key == at else None
        case ast.BinOp(left=left, op=op, right=right):
            return _operand(left, op, right)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return operand
        case ast.UnaryOp(op=op, operand=ast.UnaryOp(op=again, operand=operand)) if type(op) is type(again):
            return operand
        case ast.IfExp(test=test, body=body, orelse=other):
            if (known := truth(test)) is not None:
                return body if known else other
            return body if _name(body) is not None and _name(body) == _name(other) else None
        case ast.BoolOp(op=op, values=values):
            return _only(values, isinstance(op, ast.And))
        case ast.Call(func=function, args=[], keywords=[]):
            return function.body if isinstance(function, ast.Lambda) and not _any(function.args) else None
        case ast.Call(func=function, args=[argument], keywords=[]) if not isinstance(argument, ast.Starred):
            return argument if _name(function) in same or returns_argument(function) else None
        case ast.NamedExpr(target=target, value=value):
            return value if target.id in unread else None
    return None


def returns_argument(node: ast.AST) -> bool:
    """Return True for a function or a lambda of one argument that only returns it."""
    match node:
        case ast.Lambda(args=arguments, body=ast.Name(id=name)):
            pass
        case ast.FunctionDef(args=arguments, body=[*_, ast.Return(value=ast.Name(id=name))] as body, decorator_list=[]):
            if any(not isinstance(each, ast.Pass) and not is_text(each) for each in body[:-1]):
                return False
        case _:
            return False
    return len(arguments.args) == 1 and arguments.args[0].arg == name and not _beyond(arguments)


def truth(node: ast.AST) -> bool | None:
    """Return whether a condition always holds; None where that depends."""
    turned = False
    while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        node, turned = node.operand, not turned
    match node:
        case ast.Constant(value=value):
            return bool(value) is not turned
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return bool(elements) is not turned if not any(isinstance(each, ast.Starred) for each in elements) else None
        case ast.Compare(left=ast.Constant(value=left), ops=[ast.Eq()], comparators=[ast.Constant(value=right)]):
            return bool(left == right) is not turned
    return None


def does_nothing(node: ast.expr) -> bool:
    """Return True for a value whose computation calls nothing and sets nothing."""
    return all(isinstance(each, _PURE) for each in ast.walk(node))


def is_text(statement: ast.AST) -> bool:
    """Return True for a docstring, and any other string that stands alone."""
    match statement:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
    return False


def _picked(elements: list[ast.expr], index: ast.expr) -> ast.expr | None:
    match index:
        case ast.Constant(value=int(at)):
            pass
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(at))):
            at = -at
        case _:
            return None
    plain = all(isinstance(each, ast.Name | ast.Constant) for each in elements) or len(elements) == 1
    fits = -len(elements) <= at < len(elements) and not any(isinstance(each, ast.Starred) for each in elements)
    return elements[at] if plain and fits else None


def _operand(left: ast.expr, op: ast.operator, right: ast.expr) -> ast.expr | None:
    match op:
        case ast.Add() | ast.BitOr() | ast.BitXor():
            return right if _is(left, 0) else left if _is(right, 0) else None
        case ast.Mult():
            return right if _is(left, 1) else left if _is(right, 1) else None
        case ast.Sub() | ast.LShift() | ast.RShift():
            return left if _is(right, 0) else None
        case ast.Div() | ast.Pow():
            return left if _is(right, 1) else None
    return None


def _only(values: list[ast.expr], neutral: bool) -> ast.expr | None:
    """Return the one operand of `and` (neutral: True) or `or` that matters."""
    rest = [each for each in values if truth(each) is not neutral]
    if len(rest) > 1 and all(_name(each) is not None and _name(each) == _name(rest[0]) for each in rest):
        return rest[0]
    return rest[0] if len(rest) == 1 and len(values) > 1 else None


def _is(node: ast.expr, number: int) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value == number


def _name(node: ast.AST) -> str | None:
    return node.id if isinstance(node, ast.Name) else None


def _any(arguments: ast.arguments) -> bool:
    return bool(arguments.args) or _beyond(arguments)


def _beyond(arguments: ast.arguments) -> bool:
    return bool(arguments.posonlyargs or arguments.kwonlyargs or arguments.vararg or arguments.kwarg)
