"""What people get wrong beside the mutants' changes: names confused, keys, constants, masks, transposes, signs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grader.course.changes import changed_expressions, replaced
from grader.diagnosis.slips.formulas import (
    AXIS_VALUES,
    is_axis,
    number_node,
    other_calls,
    other_numbers,
    other_operations,
    other_transposes,
    other_way,
    transposed,
)

PLAIN = (bool, int, float, complex, str)
KIN = {  # functions that are confused
    "sum": ("max", "prod"), "max": ("sum", "mean"), "log2": ("log", "log10"), "log": ("log2", "log10"),
    "exp": ("exp2",), "mean": ("median",), "median": ("mean",), "prod": ("sum",), "norm": ("sum",),
    "matmul": ("multiply",), "multiply": ("matmul",),
    "add": ("subtract",), "subtract": ("add",), "cos": ("tan",), "tanh": ("sin", "arctan"), "outer": ("inner",),
    "uniform": ("normal",), "standard_normal": ("random",), "arange": ("ones",), "abs": ("square",),
    "sorted": ("list",), "split": ("splitlines",), "upper": ("lower",), "lower": ("upper",), "extend": ("append",),
    "keys": ("values",), "pop": ("popleft",), "sort": ("unique",), "unique": ("sort",), "sqrt": ("square",),
    "square": ("sqrt", "abs"), "stack": ("concatenate",), "concatenate": ("stack",), "hstack": ("vstack",),
    "vstack": ("hstack",), "repeat": ("tile",), "tile": ("repeat",), "empty": ("zeros",), "sinh": ("tanh",),
}  # fmt: skip
MOST_KEYS = 12  # of a dict that one key may be confused with


@dataclass(frozen=True)
class Scope:
    """What a function's names hold when it ends, and the functions of its module by how many arguments they take."""

    values: Mapping[str, Any]
    functions: Mapping[str, int] = field(default_factory=dict)
    defaults: Mapping[str, ast.expr] = field(default_factory=dict)  # of its arguments


def natural_changes(node: ast.AST, holder: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    """Yield what may stand in an expression's place inside of its holder, the mutants' changes first."""
    if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
        return
    yield from changed_expressions(node, holder)
    match node:
        case ast.Name():
            yield from _names(node, holder, scope)
        case ast.Attribute():
            yield from _attributes(node, holder, scope)
        case ast.Constant(value=str()):
            yield from _keys(node, holder, scope)
        case ast.Constant():
            yield from other_numbers(node, holder)
        case ast.UnaryOp(operand=ast.Constant(value=int() as axis), op=ast.USub()) if is_axis(holder):
            yield from (number_node(value) for value in AXIS_VALUES if abs(value + axis) > 1)
        case ast.BinOp():
            yield from other_operations(node)
        case ast.Call():
            yield from other_calls(node)
            yield from other_transposes(node)
        case ast.Compare():
            yield from other_way(node)
    if isinstance(node, (ast.BinOp, ast.Call, ast.Name, ast.Subscript)) and isinstance(
        holder, (ast.Return, ast.Assign, ast.Tuple, ast.BinOp, ast.AugAssign)
    ):
        yield from _sign_and_transpose(node, holder, scope)


def _names(node: ast.Name, holder: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    """Yield other names of the same sort; functions of the module that take as much; a mask left out or inverted."""
    if isinstance(holder, ast.Call) and holder.func is node:
        most = len(holder.args) + len(holder.keywords)
        own = scope.functions.get(node.id)
        if own is not None:
            yield from (
                ast.Name(n, ast.Load()) for n, k in scope.functions.items() if n != node.id and k == own >= most
            )
        for other in KIN.get(node.id, ()):
            yield ast.Name(other, ast.Load())
        return
    if node.id not in scope.values:
        return
    own_value = scope.values[node.id]
    if node.id in scope.defaults:
        yield scope.defaults[node.id]
    for name, value in scope.values.items():
        if name != node.id and alike(own_value, value):
            yield ast.Name(name, ast.Load())
    if isinstance(own_value, np.ndarray) and own_value.dtype == bool:
        yield ast.UnaryOp(ast.Invert(), node)
    if isinstance(holder, (ast.Call, ast.keyword)) and own_value is not None and not isinstance(own_value, PLAIN):
        yield ast.Constant(None)
    if isinstance(own_value, (int, float)) and not isinstance(own_value, bool):
        yield ast.BinOp(node, ast.Pow(), ast.Constant(2))
        yield ast.BinOp(node, ast.Pow(), ast.Constant(0.5))
        yield ast.BinOp(node, ast.Add(), ast.Constant(1))
        yield ast.BinOp(node, ast.Sub(), ast.Constant(1))


def alike(one: Any, other: Any) -> bool:
    """Say whether two values are of one sort and not the same, so that their names may be confused."""
    if one is other or one is None or other is None:
        return False
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.ndim == other.ndim and (one.dtype.kind in "iuf") == (other.dtype.kind in "iuf")
    if isinstance(one, (int, float, np.number)) and isinstance(other, (int, float, np.number)):
        return bool(one != other)
    return type(one) is type(other) and not callable(one)


def _attributes(node: ast.Attribute, holder: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    """Yield other attributes of self of the same sort, and other functions of a library that are akin."""
    if isinstance(node.value, ast.Name) and node.value.id == "self":
        own = getattr(scope.values.get("self"), "__dict__", {})
        if node.attr in own:
            names = [name for name, value in own.items() if name != node.attr and alike(own[node.attr], value)]
            yield from (replaced(node, attr=name) for name in names)
    elif isinstance(holder, ast.Call) and holder.func is node:
        yield from (replaced(node, attr=other) for other in KIN.get(node.attr, ()))


def _keys(node: ast.Constant, holder: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    """Yield other keys of the dict that a key is looked up in."""
    if not (isinstance(holder, ast.Subscript) and holder.slice is node):
        return
    table = _value_of(holder.value, scope)
    if isinstance(table, Mapping) and node.value in table:
        others = [key for key, value in table.items() if key != node.value and alike(table[node.value], value)]
        yield from (ast.Constant(key) for key in others[:MOST_KEYS] if isinstance(key, str))


def _value_of(node: ast.expr, scope: Scope) -> Any:
    """Return what a name or an attribute held; None for anything else."""
    if isinstance(node, ast.Name):
        return scope.values.get(node.id)
    if isinstance(node, ast.Attribute):
        return getattr(_value_of(node.value, scope), "__dict__", {}).get(node.attr)
    return None


def _sign_and_transpose(node: ast.expr, holder: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    """Yield a value with another sign, or transposed."""
    if isinstance(node, ast.Name) and not isinstance(scope.values.get(node.id), (np.ndarray, float, np.floating)):
        return
    if isinstance(holder, (ast.Return, ast.Assign, ast.Tuple)):
        yield ast.UnaryOp(ast.USub(), node)
    if isinstance(holder, (ast.Return, ast.Tuple)) and isinstance(node, ast.Name):
        value = scope.values.get(node.id)
        if isinstance(value, np.ndarray) and value.ndim > 1:
            yield transposed(node)
