"""What a function sets and never uses: where it belongs, alone or beside an expression, something is missing."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from grader.diagnosis.trees import walk

MOST_UNREAD = 4  # entries of tables
LEAVING = (ast.Raise, ast.Continue, ast.Break)  # how the body of a check ends


def unused_names(definition: ast.FunctionDef) -> dict[str, list[str]]:
    """Return the arguments and names that a function sets and never reads: where they belong, something is missing.

    With each, the names that it is made of. What checks alone read, which refuse or skip it, has no part in any value.
    """
    loaded = {each.id for each in _computing(definition) if isinstance(each, ast.Name)}
    given = [*definition.args.posonlyargs, *definition.args.args, *definition.args.kwonlyargs]
    names = [each.arg for each in given]
    names += [each.id for each in walk(definition) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
    unused = [each for each in dict.fromkeys(names) if each not in loaded and each not in ("self", "_")]
    made: dict[str, list[str]] = {name: [] for name in unused}
    for node in walk(definition) if unused else ():
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.Assign) and isinstance(target, ast.Name) and target.id in made:
            made[target.id] += [each.id for each in walk(node.value) if isinstance(each, ast.Name)]
    return made


def _computing(definition: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield what a function's lines load, without what checks a value: it refuses or skips it, or calls what does."""
    waiting: list[ast.AST] = list(definition.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and isinstance(node.body[-1], LEAVING):
            waiting += [each for each in (*node.body, *node.orelse) if not isinstance(each, ast.Raise)]
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name):
            continue
        if isinstance(node, ast.Assign):
            parts = walk(node)
            anew = {each.id for each in parts if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
            yield from (each for each in parts if getattr(each, "id", "") not in anew)
            continue  # b = np.asarray(b) uses b for nothing else
        if not isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
            yield node
        waiting += ast.iter_child_nodes(node)


def put_in(
    node: ast.AST, holder: ast.AST, value: Any, unused: Mapping[str, Sequence[str]], values: Mapping[str, Any]
) -> Iterator[ast.AST]:
    """Yield what is never used in the place of an expression, or beside it, alone or times what it is made of."""
    if not isinstance(node, ast.expr) or (isinstance(holder, ast.Call) and holder.func is node):
        return
    for name in unused:
        held, load = values.get(name), ast.Name(name, ast.Load())
        if held is None:
            continue
        if str(getattr(held, "dtype", type(held).__name__)) == "bool":
            yield from _masked(node, value, load)
        number = node.value if isinstance(node, ast.Constant) else None
        plain = number is not None
        if (is_scalar(number) and is_scalar(held)) if plain else (value is not None and _alike(value, held)):
            yield load
        fits = isinstance(value, (np.ndarray, int, float)) and not isinstance(value, bool)
        if fits and (is_scalar(held) or _broadcasts(held, value)) and not plain:
            for operator in (ast.Mult, ast.Add, ast.Sub, ast.Div):
                yield ast.BinOp(node, operator(), load)
            for factor in unused[name] if isinstance(node, (ast.BinOp, ast.Name)) else ():
                if getattr(values.get(factor), "shape", None) == getattr(value, "shape", ()):
                    product = ast.BinOp(ast.Name(factor, ast.Load()), ast.Mult(), load)
                    yield from (ast.BinOp(node, operator(), product) for operator in (ast.Add, ast.Sub))


def _masked(node: ast.expr, value: Any, mask: ast.expr) -> Iterator[ast.AST]:
    """Yield a value with a number where a mask that is never used is true."""
    if isinstance(node, ast.Constant) or getattr(getattr(value, "dtype", None), "kind", "") != "f":
        return
    library = ast.Name("np", ast.Load())
    infinity = ast.Attribute(library, "inf", ast.Load())
    for number in (infinity, ast.Constant(0.0), ast.UnaryOp(ast.USub(), infinity), ast.Constant(1.0)):
        yield ast.Call(ast.Attribute(library, "where", ast.Load()), [mask, number, node], [])


def is_scalar(value: Any) -> bool:
    """Say whether a value is a plain number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _alike(value: Any, held: Any) -> bool:
    if isinstance(value, np.ndarray) and isinstance(held, np.ndarray):
        return bool(value.shape == held.shape)
    return type(value).__name__ == type(held).__name__ and not isinstance(value, np.ndarray)


def _broadcasts(held: Any, value: Any) -> bool:
    if not isinstance(held, np.ndarray) or not isinstance(value, np.ndarray):
        return False
    try:
        return bool(np.broadcast_shapes(held.shape, value.shape) == value.shape)
    except ValueError:
        return False


def unread(node: ast.AST, holder: ast.AST, definition: ast.FunctionDef, values: Mapping[str, Any]) -> Iterator[ast.AST]:
    """Yield entries of a table that a function reads others of, in the place of a name: cache["stride"] for size."""
    if not isinstance(node, ast.Name) or not isinstance(holder, (ast.Call, ast.BinOp, ast.Tuple)):
        return
    held, tables = values.get(node.id), [name for name, table in values.items() if isinstance(table, dict)]
    if not tables or held is None or isinstance(held, bool) or (isinstance(holder, ast.Call) and holder.func is node):
        return
    keys = [each for each in walk(definition) if isinstance(each, ast.Subscript) and isinstance(each.value, ast.Name)]
    read: dict[str, set[Any]] = {}
    for each in keys:
        read.setdefault(getattr(each.value, "id", ""), set()).add(getattr(each.slice, "value", None))
    found = [
        ast.Subscript(ast.Name(name, ast.Load()), ast.Constant(key), ast.Load())
        for name in tables
        for key, value in values[name].items()
        if name in read and isinstance(key, str) and key not in read[name] and _alike(value, held)
    ]
    yield from found[:MOST_UNREAD]
