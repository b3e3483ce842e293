"""What is easily taken for another: a sign, `&` for `|`, one of two names that are alike, a bound or a length for an
end, and the first entry for a sum.

There are few such changes in a function, so that they are tried in all functions before the others.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from grader.course.changes import PARTNERS, replaced
from grader.diagnosis.repairs.kinds.around import both_sided, centred, negated
from grader.diagnosis.repairs.kinds.blocks import on_another_axis
from grader.diagnosis.repairs.kinds.draws import SIZES, other_draws
from grader.diagnosis.repairs.kinds.instead import (
    begun,
    by_name,
    diagonal,
    identity,
    in_order,
    lengths,
    other_count,
    rounds,
    stepped,
    uncorrected,
    unequal,
)
from grader.diagnosis.repairs.kinds.letters import letters
from grader.diagnosis.slips.changes import Scope, natural_changes
from grader.diagnosis.slips.formulas import number_node
from grader.diagnosis.slips.wording.names import are_kin
from grader.diagnosis.slips.wording.phrases import called
from grader.diagnosis.trees import walk

KINDS = (ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.Name, ast.Attribute, ast.Constant, ast.Slice, ast.Compare)
INVERSE: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Lt: ast.GtE, ast.GtE: ast.Lt}
EXTREMES = ("argmax", "argmin", "max", "min", "maximum", "minimum", "logical_and", "logical_or", "any", "all")
BUILT_IN = ("any", "all", "max", "min")
JOINED = (ast.BitAnd, ast.BitOr)
SIGNS = (ast.Add, ast.Sub)
MOST_ENTRIES = 4  # of dicts that an attribute may stand for


def is_quick(old: ast.AST, new: ast.AST, holder: ast.AST, values: Mapping[str, Any]) -> bool:
    """Say whether one thing stands for another that is easily taken for it; values are those of a function's names."""
    match old, new:
        case ast.BinOp(), ast.BinOp():
            kinds = (JOINED,) if isinstance(holder, ast.Slice) else (JOINED, SIGNS)  # a slice has other bounds first
            both = any(isinstance(old.op, kind) and isinstance(new.op, kind) for kind in kinds)
            return both and old.left is new.left and old.right is new.right
        case ast.UnaryOp(op=ast.USub()), _:
            return new is old.operand
        case ast.BoolOp(), ast.BoolOp():
            return type(old.op) is not type(new.op)
        case ast.Slice(), ast.Slice():
            return True
        case ast.Name(), ast.Name():
            held = [values[each.id] for each in (old, new) if each.id in values]
            is_given = _is_given(old, holder) and len(held) == 2 and _are_like(*held)
            return is_given or (are_kin(old.id, new.id) and len({type(each) for each in held}) < 2)  # h is no index i
        case ast.Attribute(), ast.Attribute() if isinstance(holder, ast.Call) and holder.func is old:
            return old.attr in EXTREMES and PARTNERS.get(old.attr) == new.attr
        case ast.Attribute(), ast.Attribute():
            return are_kin(old.attr, new.attr)
        case ast.Compare(), ast.Compare() if _is_case(holder) or any(called(each) in SIZES for each in walk(old)):
            return [INVERSE.get(type(each)) for each in old.ops] == list(map(type, new.ops))
        case ast.Constant(value=str() as one), ast.Constant(value=str() as other):
            return isinstance(holder, ast.Subscript) and are_kin(one, other)
    return False


def _is_given(node: ast.AST, holder: ast.AST) -> bool:
    """Say whether an expression is given to a function of the module, or is a side of a matrix product."""
    if isinstance(holder, ast.Call):
        return isinstance(holder.func, ast.Name) and holder.func is not node
    return isinstance(holder, ast.BinOp) and isinstance(holder.op, ast.MatMult)


def _are_like(one: Any, other: Any) -> bool:
    """Say whether two values are arrays of floats of one shape."""
    if not isinstance(one, np.ndarray) or not isinstance(other, np.ndarray):
        return False
    return one.ndim > 0 and one.shape == other.shape and one.dtype.kind == other.dtype.kind == "f"


def _is_case(holder: ast.AST) -> bool:
    """Say whether a condition chooses between steps, and does not refuse."""
    return isinstance(holder, ast.If) and not isinstance(holder.body[0], ast.Raise)


def for_another(
    node: ast.AST,
    holder: ast.AST,
    scope: Scope,
    value_of: Callable[[ast.AST], Any],
    definition: ast.FunctionDef,
) -> Iterator[ast.AST]:
    """Yield what may belong in the place of an expression that is easily taken for it."""
    yield from entries(node, scope.values)
    yield from summed(node, value_of)
    yield from built_in(node, holder)
    yield from other_end(node, value_of)
    yield from one_less(node, holder)
    yield from arranged(node, holder, scope.values)
    yield from by_length(node)
    yield from by_name(node, holder, scope.values, value_of)
    yield from in_order(node, holder, scope.values, value_of)
    yield from lengths(node, holder, value_of)
    yield from unequal(node)
    yield from rounds(node, definition)
    yield from diagonal(node, scope.values)
    yield from negated(node, holder, value_of(node))
    yield from both_sided(node, value_of)
    yield from identity(node)
    yield from stepped(node)
    yield from uncorrected(node)
    yield from begun(node, holder, value_of)
    yield from other_draws(node)
    yield from on_another_axis(node, value_of)
    yield from other_count(node, holder, scope.values, value_of)
    yield from letters(node, holder)
    yield from centred(node, holder, scope.values)
    if isinstance(node, KINDS):
        yield from (each for each in natural_changes(node, holder, scope) if is_quick(node, each, holder, scope.values))


def built_in(node: ast.AST, holder: ast.AST) -> Iterator[ast.AST]:
    """Yield the other of two functions of Python's own that are easily taken for each other: `all` for `any`."""
    if isinstance(node, ast.Name) and isinstance(holder, ast.Call) and holder.func is node and node.id in BUILT_IN:
        yield ast.Name(PARTNERS[node.id], ast.Load())


def other_end(node: ast.AST, value_of: Callable[[ast.AST], Any]) -> Iterator[ast.AST]:
    """Yield the last entry in the place of the first, and the first in that of the last: hs[:, -1] for hs[:, 0].

    Of two entries, one is the other: index 1 for index 0.
    """
    if not isinstance(node, ast.Subscript) or getattr(value_of(node.value), "shape", ()) == (2,):
        return
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for place, each in enumerate(parts):
        other = {"0": -1, "-1": 0}.get(ast.unparse(each)) if isinstance(each, (ast.Constant, ast.UnaryOp)) else None
        if other is None:
            continue
        made: list[ast.expr] = [*parts[:place], number_node(other), *parts[place + 1 :]]
        yield replaced(node, slice=ast.Tuple(made, ast.Load()) if len(parts) > 1 else made[0])


def one_less(node: ast.AST, holder: ast.AST) -> Iterator[ast.AST]:
    """Yield 1 - t² in the place of t², as in the slope of tanh."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Pow) or ast.unparse(node.right) != "2":
        return
    if not (isinstance(holder, ast.BinOp) and isinstance(holder.op, ast.Sub) and holder.right is node):
        yield ast.BinOp(ast.Constant(1), ast.Sub(), node)


def arranged(node: ast.AST, holder: ast.AST, values: Mapping[str, Any]) -> Iterator[ast.AST]:
    """Yield names of as many numbers in another arrangement: flat for grad, of which it was made."""
    own = values.get(node.id) if isinstance(node, ast.Name) and not isinstance(holder, ast.Call) else None
    if not isinstance(node, ast.Name) or not isinstance(own, np.ndarray) or own.ndim < 1:
        return
    names = [
        name
        for name, held in values.items()
        if isinstance(held, np.ndarray)
        and (held.size, held.dtype) == (own.size, own.dtype)
        and 0 < held.ndim != own.ndim
    ]
    yield from (ast.Name(name, ast.Load()) for name in names[:MOST_ENTRIES])


def entries(node: ast.AST, values: Mapping[str, Any]) -> Iterator[ast.AST]:
    """Yield entries of an object's dicts in the place of an attribute of their name: params["gamma"] for gamma."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name) or node.value.id != "self":
        return
    own = getattr(values.get("self"), "__dict__", {})
    held = own.get(node.attr)
    tables = [(name, table) for name, table in own.items() if isinstance(table, dict)]
    fitting = [
        ast.Subscript(ast.Attribute(node.value, name, ast.Load()), ast.Constant(key), ast.Load())
        for name, table in tables
        for key, value in table.items()
        if key == node.attr.strip("_") and getattr(value, "shape", None) == getattr(held, "shape", ())
    ]
    yield from fitting[:MOST_ENTRIES]


def by_length(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a slice that ends so many entries behind its start, where its end is the number of them."""
    if not isinstance(node, ast.Slice) or node.step is not None or node.lower is None or node.upper is None:
        return
    names = {each.id for each in walk(node.lower) if isinstance(each, ast.Name)}
    counts_back = isinstance(node.upper, ast.UnaryOp)
    if (
        names
        and not counts_back
        and names.isdisjoint(each.id for each in walk(node.upper) if isinstance(each, ast.Name))
    ):
        yield ast.Slice(node.lower, ast.BinOp(node.lower, ast.Add(), node.upper), None)


def summed(node: ast.AST, value_of: Callable[[ast.AST], Any]) -> Iterator[ast.AST]:
    """Yield the sum and the mean over an axis in the place of its first or last entry."""
    if not isinstance(node, ast.Subscript) or ast.unparse(node.slice) not in ("0", "-1"):
        return
    value = value_of(node.value)
    if isinstance(value, np.ndarray) and value.ndim > 1 and value.dtype.kind == "f":
        for name in ("sum", "mean"):
            function = ast.Attribute(node.value, name, ast.Load())
            yield ast.Call(function, [], [ast.keyword("axis", number_node(0))])
