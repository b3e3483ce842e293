"""What people get wrong beside the mutants' changes: names confused, keys, constants, masks, transposes, signs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grader.course.changes import changed_expressions, replaced

PLAIN = (bool, int, float, complex, str)
AXIS_VALUES = (-1, -2, 0, 1, -3)
KIN = {
    "sum": ("max", "prod"), "max": ("sum", "mean"), "log2": ("log", "log10"), "log": ("log2", "log10"),
    "exp": ("exp2",), "mean": ("median",), "norm": ("sum",), "matmul": ("multiply",), "multiply": ("matmul",),
    "add": ("subtract",), "subtract": ("add",), "cos": ("tan",), "tanh": ("sin", "arctan"), "outer": ("inner",),
    "uniform": ("normal",), "standard_normal": ("random",), "arange": ("ones",), "abs": ("square",), "sorted": ("list",),
    "split": ("splitlines",), "upper": ("lower",), "lower": ("upper",), "extend": ("append",), "keys": ("values",), "pop": ("popleft",),
}  # fmt: skip
SPECIAL_KEYS = 12


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
            yield from _numbers(node, holder)
        case ast.UnaryOp(operand=ast.Constant(value=int()), op=ast.USub()) if _is_axis(holder):
            yield from (
                _number(value)
                for value in AXIS_VALUES
                if value not in (-node.operand.value, -node.operand.value + 1, -node.operand.value - 1)
            )  # type: ignore[operator]
        case ast.BinOp():
            yield from _operations(node)
        case ast.Call():
            yield from _calls(node)
            yield from _other_transposes(node)
        case ast.Compare():
            yield from _other_way(node)
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
        alikes = [key for key, value in table.items() if key != node.value and alike(table[node.value], value)]
        yield from (ast.Constant(key) for key in alikes[:SPECIAL_KEYS] if isinstance(key, str))


def _value_of(node: ast.expr, scope: Scope) -> Any:
    if isinstance(node, ast.Name):
        return scope.values.get(node.id)
    if isinstance(node, ast.Attribute):
        return getattr(_value_of(node.value, scope), "__dict__", {}).get(node.attr)
    return None


def _is_axis(holder: ast.AST) -> bool:
    return isinstance(holder, ast.keyword) and holder.arg in ("axis", "axes", "axis1", "axis2")


def _numbers(node: ast.Constant, holder: ast.AST) -> Iterator[ast.AST]:
    """Yield numbers ten times as large or small, squared, rooted, 0, 1, and other axes."""
    number = node.value
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        return
    if _is_axis(holder):
        yield from (_number(value) for value in AXIS_VALUES if abs(value - number) > 1)
        yield ast.Constant(None)
        return
    if isinstance(holder, ast.UnaryOp) and isinstance(holder.op, ast.USub):
        return
    if isinstance(holder, ast.Subscript):
        if number in (0, 1):
            yield _number(-1)
        return
    others = {0, 1, number * 2, number / 2, number * 10, number / 10, number * 100, number / 100, -number}
    if 0 < number < 1e6:
        others |= {number**2, number**0.5}
    for value in sorted(others - {number, number + 1, number - 1}):
        whole = isinstance(number, int) and float(value).is_integer()
        yield _number(int(value) if whole else float(value))


def _other_transposes(node: ast.Call) -> Iterator[ast.AST]:
    """Yield all axes reversed, and the first axes swapped, where the last two are meant."""
    if getattr(node.func, "attr", "") != "swapaxes":
        return
    array = node.args[0] if len(node.args) == 3 else getattr(node.func, "value", None)
    if isinstance(array, ast.expr) and len(node.args) in (2, 3):
        yield ast.Attribute(array, "T", ast.Load())
        for pair in ((0, 1), (1, 2)):
            yield replaced(node, args=[*node.args[:-2], *map(ast.Constant, pair)])


def _number(value: int | float) -> ast.expr:
    return ast.Constant(value) if value >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-value))


def _operations(node: ast.BinOp) -> Iterator[ast.AST]:
    """Yield other products, terms that count twice, a divisor's root or square."""
    if isinstance(node.op, ast.MatMult):
        yield replaced(node, left=transposed(node.left))
        yield replaced(node, right=transposed(node.right))
        yield replaced(node, op=ast.Mult())
        yield ast.BinOp(transposed(node.right), ast.MatMult(), transposed(node.left))
    elif isinstance(node.op, ast.Mult):
        yield replaced(node, op=ast.MatMult())
        yield replaced(node, op=ast.Add())
        yield ast.BinOp(node, ast.Mult(), node.right)
        yield ast.BinOp(node, ast.Mult(), node.left)
        yield replaced(node, left=ast.BinOp(ast.Constant(1), ast.Sub(), node.left))
        yield replaced(node, right=ast.BinOp(ast.Constant(1), ast.Sub(), node.right))
    elif isinstance(node.op, ast.Div):
        yield replaced(node, op=ast.FloorDiv())
        for power in (0.5, 2):
            yield replaced(node, right=ast.BinOp(node.right, ast.Pow(), ast.Constant(power)))
    elif isinstance(node.op, ast.Add):
        yield replaced(node, op=ast.Mult())
        yield ast.BinOp(node, ast.Add(), node.right)
    elif isinstance(node.op, ast.FloorDiv):
        yield replaced(node, op=ast.Div())
        yield ast.UnaryOp(ast.USub(), ast.BinOp(ast.UnaryOp(ast.USub(), node.left), ast.FloorDiv(), node.right))
    elif isinstance(node.op, ast.Sub) and isinstance(node.left, ast.Constant) and node.left.value == 1:
        yield replaced(node, op=ast.Add())


def transposed(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Attribute) and node.attr == "T":
        return node.value
    function = getattr(node.func, "attr", "") if isinstance(node, ast.Call) else ""
    if isinstance(node, ast.Call) and function == "swapaxes" and node.args:
        return node.args[0] if len(node.args) == 3 else getattr(node.func, "value", node)
    swap = ast.Attribute(ast.Name("np", ast.Load()), "swapaxes", ast.Load())
    return ast.Call(swap, [node, _number(-1), _number(-2)], [])


def _sign_and_transpose(node: ast.expr, holder: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    if isinstance(node, ast.Name) and not isinstance(scope.values.get(node.id), (np.ndarray, float, np.floating)):
        return
    if isinstance(holder, (ast.Return, ast.Assign, ast.Tuple)):
        yield ast.UnaryOp(ast.USub(), node)
    if isinstance(holder, (ast.Return, ast.Tuple)) and isinstance(node, ast.Name):
        value = scope.values.get(node.id)
        if isinstance(value, np.ndarray) and value.ndim > 1:
            yield transposed(node)


def _calls(node: ast.Call) -> Iterator[ast.AST]:
    """Yield a call without one of its last arguments, a range that ends or begins elsewhere, a function's absence."""
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    if name == "range" and node.args:
        end = len(node.args) - 1 if len(node.args) < 3 else 1
        for operator in (ast.Sub(), ast.Add()):
            changed = ast.BinOp(node.args[end], operator, ast.Constant(1))
            yield replaced(node, args=[*node.args[:end], changed, *node.args[end + 1 :]])
        if len(node.args) == 1:
            yield replaced(node, args=[ast.Constant(1), node.args[0]])
            yield ast.Call(ast.Name("reversed", ast.Load()), [node], [])
    elif len(node.args) > 1 and not isinstance(node.args[-1], ast.Starred):
        yield replaced(node, args=node.args[:-1])
    if name == "where" and len(node.args) == 3:
        yield from node.args[1:]
        yield replaced(node, args=[ast.UnaryOp(ast.Invert(), node.args[0]), *node.args[1:]])
    if name in ("tril", "triu") and len(node.args) == 1 and not node.keywords:
        yield from (replaced(node, args=[*node.args, _number(k)]) for k in (-1, 1))
    if name == "arange" and len(node.args) == 1:
        yield replaced(node, args=[ast.Constant(1), ast.BinOp(node.args[0], ast.Add(), ast.Constant(1))])
    if name in ("sum", "mean", "max", "min", "std", "var", "argmax", "argmin", "any", "all"):
        given = {keyword.arg for keyword in node.keywords}
        if "axis" not in given and len(node.args) <= 1:
            for axis in (-1, 0):
                yield replaced(node, keywords=[*node.keywords, ast.keyword("axis", _number(axis))])
        if name in ("std", "var"):
            yield replaced(
                node, keywords=[k for k in node.keywords if k.arg != "ddof"] + [ast.keyword("ddof", ast.Constant(1))]
            )


def _other_way(node: ast.Compare) -> Iterator[ast.AST]:
    """Yield a comparison the other way round, and two of which one is left out."""
    opposite = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
    if len(node.ops) == 1 and type(node.ops[0]) in opposite:
        yield replaced(node, ops=[opposite[type(node.ops[0])]()])  # type: ignore[abstract]
