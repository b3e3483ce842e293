"""Which part of an array is meant: another block of several, one further inside, rows that have to become columns."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from grader.course.changes import replaced
from grader.diagnosis.slips.wording.phrases import called, constant_of

MOST_BLOCKS = 4  # of one size, in an array of which one is taken
MOST_STRETCHED = 4
MOST_OFFSETS = 6  # names of numbers by which slices may have to begin later


def shifted(node: ast.AST, values: Mapping[str, Any]) -> Iterator[ast.expr]:
    """Yield a part that begins further inside along each axis that it cuts: [p : p + h, p : p + w] for [:h, :w]."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple):
        return
    cut = [each for each in node.slice.elts if _is_at_start(each)]
    if len(cut) < 2:
        return
    whole = [name for name, held in values.items() if type(held) is int and held > 0]
    for name in whole[:MOST_OFFSETS]:
        offset = ast.Name(name, ast.Load())
        parts = [_later(each, offset) if each in cut else each for each in node.slice.elts]
        yield replaced(node, slice=replaced(node.slice, elts=parts))


def _is_at_start(node: ast.expr) -> bool:
    return isinstance(node, ast.Slice) and node.lower is None and node.step is None and isinstance(node.upper, ast.Name)


def _later(node: ast.expr, offset: ast.Name) -> ast.expr:
    assert isinstance(node, ast.Slice) and node.upper is not None
    return ast.Slice(offset, ast.BinOp(offset, ast.Add(), node.upper))


def turned(node: ast.AST) -> Iterator[ast.expr]:
    """Yield a transpose where an array was reshaped to the same two axes: x.reshape(f, -1).T for x.reshape(-1, f)."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and called(node) == "reshape":
        sizes = node.args[0].elts if len(node.args) == 1 and isinstance(node.args[0], ast.Tuple) else node.args
        if len(sizes) == 2 and not node.keywords:
            yield ast.Attribute(replaced(node, args=[sizes[1], sizes[0]]), "T", ast.Load())


def other_blocks(key: ast.Slice) -> Iterator[ast.Slice]:
    """Yield the other blocks of n entries where one of several is set: [n : 2 * n] for [:n]."""
    ends = [_times(each) for each in (key.lower or ast.Constant(0), key.upper)]
    names = {name for name, number in ends if number}
    if key.step is not None or len(names) != 1 or ends[1][1] - ends[0][1] != 1:
        return
    name = ast.Name(names.pop(), ast.Load())
    for block in range(MOST_BLOCKS):
        if block != ends[0][1]:
            lower, upper = (_multiple(number, name) for number in (block, block + 1))
            yield ast.Slice(lower if block else None, upper)


def _times(node: ast.expr | None) -> tuple[str, int]:
    """Return the name and the number of a bound such as 2 * n; no name and -1 for another."""
    match node:
        case ast.Constant(value=0):
            return "", 0
        case ast.Name(id=name):
            return name, 1
        case ast.BinOp(left=ast.Constant(value=int() as number), op=ast.Mult(), right=ast.Name(id=name)):
            return name, number
        case ast.BinOp(left=ast.Name(id=name), op=ast.Mult(), right=ast.Constant(value=int() as number)):
            return name, number
    return "?", -1


def _multiple(number: int, name: ast.expr) -> ast.expr:
    return name if number == 1 else ast.BinOp(ast.Constant(number), ast.Mult(), name)


def put_at_other_axes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield an index that puts a new axis in at another place: [:, None, None, :] for [:, None, :, None]."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple):
        return
    elements = node.slice.elts
    for place, (one, other) in enumerate(pairwise(elements)):
        if _is_new(one) != _is_new(other) and all(_is_new(each) or _is_whole(each) for each in (one, other)):
            swapped = [*elements[:place], other, one, *elements[place + 2 :]]
            yield replaced(node, slice=replaced(node.slice, elts=swapped))


def _is_new(node: ast.expr) -> bool:
    is_named = isinstance(node, ast.Attribute) and node.attr == "newaxis"
    return is_named or (isinstance(node, ast.Constant) and node.value is None)


def _is_whole(node: ast.expr) -> bool:
    is_slice = isinstance(node, ast.Slice) and node.lower is node.upper is node.step is None
    return is_slice or (isinstance(node, ast.Constant) and node.value is Ellipsis)


def halves(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a row times a vector with what stands before its diagonal alone, or behind it: L[i, :i] @ x[:i]."""
    match node:
        case ast.BinOp(left=ast.Subscript(slice=ast.Name() as at) as row, op=ast.MatMult(), right=ast.Name() as vector):
            for part in (ast.Slice(None, at), ast.Slice(ast.BinOp(at, ast.Add(), ast.Constant(1)), None)):
                both = ast.Tuple([at, part], ast.Load())
                yield replaced(node, left=replaced(row, slice=both), right=ast.Subscript(vector, part, ast.Load()))


def on_another_axis(node: ast.AST, value_of: Callable[[ast.AST], Any]) -> Iterator[ast.AST]:
    """Yield an entry of the second axis for one of the first, and the other way round: hs[:, -1] for hs[-1]."""
    if not isinstance(node, ast.Subscript) or getattr(value_of(node.value), "ndim", 0) < 2:
        return
    if _is_entry(node.slice):
        yield replaced(node, slice=ast.Tuple([ast.Slice(), node.slice], ast.Load()))
    elif isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == 2:
        first, second = node.slice.elts
        if isinstance(first, ast.Slice) and _is_whole(first) and _is_entry(second):
            yield replaced(node, slice=second)


def _is_entry(node: ast.expr) -> bool:
    """Say whether an index is a whole number that is written out."""
    return isinstance(constant_of(node), int) and not isinstance(constant_of(node), bool)


def stretched(node: ast.AST, holder: ast.AST, values: Mapping[str, Any]) -> Iterator[ast.AST]:
    """Yield arrays of one axis less, with a new one put in, in the place of a factor: v[:, None, :] for u."""
    held = values.get(node.id) if isinstance(node, ast.Name) and isinstance(holder, ast.BinOp) else None
    if not isinstance(node, ast.Name) or not isinstance(held, np.ndarray) or held.ndim < 2:
        return
    yielded = 0
    for name, other in values.items():
        if not isinstance(other, np.ndarray) or other.ndim != held.ndim - 1 or other.dtype != held.dtype:
            continue
        for axis in range(held.ndim):
            if other.shape == (*held.shape[:axis], *held.shape[axis + 1 :]) and yielded < MOST_STRETCHED:
                yielded += 1
                parts: list[ast.expr] = [
                    ast.Constant(None) if each == axis else ast.Slice() for each in range(held.ndim)
                ]
                yield ast.Subscript(ast.Name(name, ast.Load()), ast.Tuple(parts, ast.Load()), ast.Load())
