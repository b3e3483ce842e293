"""What stands in the wrong place: operations in another order, a name that is never used, an entry of a list."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from grader.course.changes import replaced
from grader.diagnosis.repairs.kinds.unused import is_scalar
from grader.diagnosis.slips.formulas import number_node, transposed
from grader.diagnosis.slips.wording.phrases import called
from grader.diagnosis.trees import substituted, walk

GROUPED = (ast.Add, ast.Sub, ast.Mult, ast.Div)
SUMS = (ast.Add, ast.Sub)
PRODUCTS = (ast.Mult, ast.Div, ast.FloorDiv)
SIZED = ("reshape", "zeros", "ones", "full", "empty", "arange", "range", "eye", "tile", "repeat", "broadcast_to")
COUNTING = ("len", "shape", "ndim", "size")  # to which the numbers in an array are nothing
DRAWN = ("uniform", "integers", "randint", "linspace")
RANGES = ("range", "arange")
MOST_SCALARS = 8
MOST_PLACES = 20
MOST_MATRICES = 6
MOST_ENTRIES = 6


def regrouped(node: ast.AST) -> Iterator[ast.AST]:
    """Yield an expression with its operations in another order: f(a) + b for f(a + b), a @ (b + c) for a @ b + c."""
    if isinstance(node, ast.Call) and len(node.args) == 1 and isinstance(node.args[0], ast.BinOp):
        inner = node.args[0]
        is_shorter = isinstance(inner.op, ast.Sub) and called(node) in SIZED  # arange(n - 1) has fewer entries
        if isinstance(inner.op, GROUPED) and not is_shorter:
            yield replaced(inner, left=replaced(node, args=[inner.left]))
            if isinstance(inner.op, (ast.Add, ast.Mult)):
                yield replaced(inner, right=replaced(node, args=[inner.right]))
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.BinOp) and isinstance(node.operand.op, ast.Pow):
        yield replaced(node.operand, left=replaced(node, operand=node.operand.left))
    if not isinstance(node, ast.BinOp):
        return
    left, right = node.left, node.right
    if isinstance(node.op, GROUPED):
        for side, other in (("left", right), ("right", left)):
            call = getattr(node, side)
            if isinstance(call, ast.Call) and len(call.args) == 1 and _is_applied(call):
                inside = [call.args[0], other] if side == "left" else [other, call.args[0]]
                yield replaced(call, args=[ast.BinOp(inside[0], node.op, inside[1])])
    if isinstance(node.op, ast.Pow) and isinstance(left, ast.BinOp) and isinstance(left.op, (*PRODUCTS, *SUMS)):
        yield replaced(left, right=replaced(node, left=left.right))
    if isinstance(node.op, ast.MatMult) and isinstance(left, ast.BinOp) and isinstance(left.op, SUMS):
        yield replaced(left, left=replaced(node, left=left.left))
    if isinstance(node.op, ast.MatMult) and isinstance(right, ast.BinOp) and isinstance(right.op, SUMS):
        yield replaced(right, left=replaced(node, right=right.left))
    if isinstance(node.op, PRODUCTS):
        if isinstance(left, ast.BinOp) and isinstance(left.op, SUMS):
            yield replaced(left, right=replaced(node, left=left.right))
            yield replaced(left, left=replaced(node, left=left.left))
        if isinstance(right, ast.BinOp) and isinstance(right.op, (*SUMS, *PRODUCTS, ast.Pow)):
            yield replaced(right, left=replaced(node, right=right.left))
        if isinstance(left, ast.BinOp) and isinstance(left.op, PRODUCTS) and isinstance(node.op, ast.Mult):
            yield replaced(left, right=replaced(node, left=left.right))
    if isinstance(node.op, SUMS):
        if isinstance(right, ast.BinOp) and isinstance(right.op, PRODUCTS):
            yield replaced(right, left=replaced(node, right=right.left))
        yield from _drawn_in(node, left)
        yield from _in_numerator(node, left)


def _in_numerator(node: ast.BinOp, left: ast.expr) -> Iterator[ast.expr]:
    """Yield a sum whose second term belongs to what is divided in the first: (n - k) // s for n // s - k."""
    is_rounded = isinstance(left, ast.Call) and called(left) == "int" and len(left.args) == 1
    inner = left.args[0] if is_rounded and isinstance(left, ast.Call) else left
    if isinstance(inner, ast.BinOp) and isinstance(inner.op, (ast.Div, ast.FloorDiv)):
        made = replaced(inner, left=replaced(node, left=inner.left))
        yield replaced(left, args=[made]) if is_rounded else made


def _drawn_in(node: ast.BinOp, left: ast.expr) -> Iterator[ast.BinOp]:
    """Yield a sum whose second term belongs to the last factor, or the exponent, of the first: n * x ** (n - 1)."""
    if isinstance(left, ast.BinOp) and isinstance(left.op, (*PRODUCTS, ast.Pow)):
        yield replaced(left, right=replaced(node, left=left.right))
        yield from (replaced(left, right=each) for each in _drawn_in(node, left.right))


def _is_applied(node: ast.Call) -> bool:
    """Say whether a call is that of a plain function, of NumPy or the module, or of a layer that the object has."""
    owner = getattr(node.func, "value", None)
    if called(node) in COUNTING:
        return False
    is_layer = isinstance(owner, ast.Attribute) and isinstance(owner.value, ast.Name) and owner.value.id == "self"
    return isinstance(node.func, ast.Name) or isinstance(owner, ast.Name) or is_layer


def indexed(node: ast.AST, value_of: Callable[[ast.AST], Any]) -> Iterator[ast.AST]:
    """Yield a row for a column and a column for a row, and a slice that begins further on."""
    if not isinstance(node, ast.Subscript):
        return
    everything = ast.Slice()
    if isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == 2:
        first, second = node.slice.elts
        if _is_everything(first) or _is_everything(second):
            yield replaced(node, slice=ast.Tuple([second, first], ast.Load()))
    elif getattr(value_of(node.value), "ndim", 0) == 2 and isinstance(node.slice, (ast.Name, ast.Constant)):
        yield replaced(node, slice=ast.Tuple([everything, node.slice], ast.Load()))


def _is_everything(node: ast.expr) -> bool:
    return isinstance(node, ast.Slice) and node.lower is node.upper is node.step is None


def whole_range(node: ast.AST, holder: ast.AST) -> Iterator[ast.AST]:
    """Yield n for n - size + 1 where a range ends, or n - size + 1 for n: a last part is dropped, or taken.

    And range(n) for range(i, n), which begins at the number of the round around it.
    """
    is_range = isinstance(node, ast.Call) and called(node) == "range" and len(node.args) == 2
    if isinstance(node, ast.Call) and is_range and not isinstance(node.args[0], ast.Constant):
        yield replaced(node, args=node.args[1:])
    if not isinstance(holder, ast.Call) or called(holder) not in RANGES or len(holder.args) < 2:
        return
    if node is not holder.args[1]:
        return
    first: ast.AST = node
    terms = 0
    while isinstance(first, ast.BinOp) and isinstance(first.op, SUMS):
        first, terms = first.left, terms + 1
    if terms > 1:
        yield first
    if not terms and len(holder.args) == 3 and isinstance(node, ast.expr):
        less = ast.BinOp(node, ast.Sub(), holder.args[2])
        yield ast.BinOp(less, ast.Add(), ast.Constant(1))


def both_ways(node: ast.AST, holder: ast.AST) -> Iterator[ast.AST]:
    """Yield -limit for 0 where numbers are drawn between two bounds."""
    if not isinstance(holder, ast.Call) or called(holder) not in DRAWN or len(holder.args) < 2:
        return
    if node is holder.args[0] and isinstance(node, ast.Constant) and node.value == 0:
        yield ast.UnaryOp(ast.USub(), holder.args[1])


def named_numbers(node: ast.Constant, holder: ast.AST, values: Mapping[str, Any]) -> Iterator[ast.AST]:
    """Yield the plain numbers that a function has at hand, in the place of one that is written out."""
    if not is_scalar(node.value) or (isinstance(holder, ast.keyword) and holder.arg in ("axis", "keepdims")):
        return
    names = [name for name, held in values.items() if is_scalar(held)][:MOST_SCALARS]
    for name in names:
        yield ast.Name(name, ast.Load())
        if isinstance(holder, ast.Call):
            yield ast.UnaryOp(ast.USub(), ast.Name(name, ast.Load()))
    is_size = isinstance(holder, ast.Tuple) or (isinstance(holder, ast.Call) and called(holder) in SIZED)
    arrays = [name for name, held in values.items() if isinstance(held, np.ndarray) and held.ndim > 1]
    for name in arrays[:MOST_SCALARS] if is_size else ():
        yield ast.Call(ast.Name("len", ast.Load()), [ast.Name(name, ast.Load())], [])


def with_entry(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a list with one of its entries that takes nothing, as an activation, once more elsewhere, or once less."""
    if not isinstance(node, ast.List) or len(node.elts) < 3:
        return
    plain = {ast.unparse(each): each for each in node.elts if isinstance(each, ast.Call) and not each.args}
    yielded = 0
    for text, entry in plain.items():
        for place in range(len(node.elts) + 1):
            beside = [ast.unparse(other) for other in node.elts[max(0, place - 1) : place + 1]]
            if text not in beside and yielded < MOST_PLACES:
                yielded += 1
                yield replaced(node, elts=[*node.elts[:place], entry, *node.elts[place:]])
    for place, each in enumerate(node.elts[:MOST_PLACES]):
        if ast.unparse(each) in plain:
            yield replaced(node, elts=[*node.elts[:place], *node.elts[place + 1 :]])


def exchanged(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a table with two of its values, or a formula with two of its names, in each other's places."""
    if isinstance(node, ast.BinOp):
        yield from _names_exchanged(node)
    if not isinstance(node, ast.Dict) or None in node.keys:
        return
    for one in range(min(len(node.values), MOST_ENTRIES)):
        for other in range(one + 1, min(len(node.values), MOST_ENTRIES)):
            values = list(node.values)
            values[one], values[other] = values[other], values[one]
            yield replaced(node, values=values)


def _names_exchanged(node: ast.BinOp) -> Iterator[ast.AST]:
    """Yield b * x + a for a * x + b, where each name stands there once."""
    if not isinstance(node.op, (*SUMS, ast.Mult)):
        return
    names = [each for each in walk(node) if isinstance(each, ast.Name)]
    once = [each for each in names if sum(each.id == other.id for other in names) == 1]
    outer = [each for each in (node.left, node.right) if each in once]
    for one in outer:
        for other in [each for each in once if each not in outer][:MOST_ENTRIES]:
            yield substituted(substituted(node, one, ast.Name(other.id, ast.Load())), other, one)


def chosen_by(node: ast.Constant, holder: ast.AST, values: Mapping[str, Any]) -> Iterator[ast.AST]:
    """Yield the names of whole numbers, alone or in an array of one axis, in the place of an index."""
    if not isinstance(node.value, int) or isinstance(node.value, bool):
        return
    if not isinstance(holder, (ast.Subscript, ast.Tuple)):
        return
    for name, held in values.items():
        is_array = isinstance(held, np.ndarray) and held.ndim == 1 and held.dtype.kind in "iu"
        if is_array or (isinstance(held, int) and not isinstance(held, bool)):
            yield ast.Name(name, ast.Load())


def started(node: ast.AST, holder: ast.AST, value: Any) -> Iterator[ast.AST]:
    """Yield 1 and 0 for a value that an attribute or an entry begins with."""
    is_set = isinstance(holder, ast.Assign) and isinstance(holder.targets[0], (ast.Attribute, ast.Subscript))
    if is_set and isinstance(node, (ast.Name, ast.Attribute)) and isinstance(value, float):
        yield from (ast.Constant(1.0), ast.Constant(0.0))


def multiplied(node: ast.expr, value: Any, terms: Sequence[tuple[ast.expr, Any]]) -> Iterator[ast.AST]:
    """Yield an expression multiplied by a matrix, from the left or from the right, as it is or transposed."""
    if getattr(value, "ndim", 0) == 0:
        return
    matrices = [(term, held) for term, held in terms if getattr(held, "ndim", 0) == 2 and held.dtype.kind == "f"]
    rows = value.shape[0] if value.ndim == 1 else value.shape[-2]
    for term, held in matrices[:MOST_MATRICES]:
        if ast.unparse(term) == ast.unparse(node):
            continue
        if held.shape[1] == rows:
            yield ast.BinOp(term, ast.MatMult(), node)
        if held.shape[0] == rows:
            yield ast.BinOp(transposed(term), ast.MatMult(), node)
        if held.shape[0] == value.shape[-1]:
            yield ast.BinOp(node, ast.MatMult(), term)
        if held.shape[1] == value.shape[-1]:
            yield ast.BinOp(node, ast.MatMult(), transposed(term))


def plain_numbers(value: Any, constants: Iterable[float]) -> Iterator[ast.AST]:
    """Yield the numbers of the right module in the place of a number that is computed."""
    if isinstance(value, float):
        yield from (number_node(each) for each in sorted(constants) if each != value)
