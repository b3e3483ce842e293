"""What a line sets: results that are taken apart in another order, other places of an array, a name never set again."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np

from grader.course.changes import replaced
from grader.diagnosis.repairs.kinds.analogy import inserted, masked
from grader.diagnosis.repairs.kinds.blocks import other_blocks, shifted
from grader.diagnosis.repairs.kinds.likewise import afresh, steps_moved
from grader.diagnosis.repairs.kinds.silent import swapped_copies
from grader.diagnosis.slips.orders import repaired_orders, restarted, returned_within
from grader.diagnosis.slips.statements import BODIES, Kind
from grader.diagnosis.trees import substituted, walk

MOST_TARGETS = 4  # that results are taken apart into
MOST_BEFORE = 3  # lines before a loop, of which one may belong in it
MOST_KEPT = 4  # names that may have to be set again

Line = tuple[Kind, str, int, list[ast.stmt]]


def other_targets(holder: ast.AST, definition: ast.FunctionDef, values: Mapping[str, Any]) -> Iterator[Line]:
    """Yield bodies in which one line sets something else: few, so that they are tried in all functions first."""
    for name, body in _bodies(holder):
        for place, statement in enumerate(body):
            for kind, other in (*afresh(statement, definition, values), *_other(statement, values)):
                yield kind, name, place, [*body[:place], other, *body[place + 1 :]]
        for place, changed in _in_rounds(body):
            yield "reset", name, place, changed
        for kind, place, changed in (*returned_within(body), *restarted(body)):
            yield kind, name, place, changed


def _in_rounds(body: list[ast.stmt]) -> Iterator[tuple[int, list[ast.stmt]]]:
    """Yield a body in which a loop sets in every round what was set once, in one of the lines before it."""
    for place, loop in enumerate(body):
        if not isinstance(loop, (ast.For, ast.While)):
            continue
        read, own = _names(loop, ast.Load), _names(loop, ast.Store)
        for line in range(max(0, place - MOST_BEFORE), place):
            first = body[line]
            if not isinstance(first, ast.Assign) or not isinstance(first.value, (ast.Call, ast.BinOp)):
                continue
            target = first.targets[0]
            is_used = isinstance(target, ast.Name) and target.id in read - own
            if is_used and _names(first.value, ast.Load) & own:
                yield line, [*body[:place], replaced(loop, body=[first, *loop.body]), *body[place + 1 :]]


def lines_of(
    holder: ast.AST, definition: ast.FunctionDef, wanted: Callable[[ast.stmt], bool], values: Mapping[str, Any]
) -> Iterator[Line]:
    """Yield what belongs in the place of a body that a node holds: a line more, or one before a loop or behind it."""
    yield from inserted(holder, definition, wanted, values)
    yield from masked(holder, wanted, values)
    yield from repaired_orders(holder)
    for name, body in _bodies(holder):
        for kind, place, changed in steps_moved(body):
            yield kind, name, place, changed
    stale = _stale(holder, definition)
    for name, body in _bodies(holder) if stale else ():
        for place, statement in enumerate(body):
            if name == "body" and isinstance(statement, (ast.Assign, ast.AugAssign)):
                for again in stale:
                    yield "kept", name, place, [*body[: place + 1], again, *body[place + 1 :]]


def _bodies(holder: ast.AST) -> list[tuple[str, list[ast.stmt]]]:
    """Return the lists of statements that a node holds, by the name of their field."""
    held = [(name, getattr(holder, name, None)) for name in BODIES]
    return [(name, body) for name, body in held if isinstance(body, list) and body and isinstance(body[0], ast.stmt)]


def _other(node: ast.stmt, values: Mapping[str, Any]) -> Iterator[tuple[Kind, ast.stmt]]:
    """Yield a line that sets something else: results in another order, another part of an array, a copy."""
    if not isinstance(node, (ast.Assign, ast.AugAssign)):
        return
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    if isinstance(node, ast.Assign) and isinstance(target, ast.Tuple) and isinstance(node.value, ast.Call):
        for order in _orders(target.elts):
            yield "unpacked", replaced(node, targets=[ast.Tuple(order, ast.Store())])
    elif isinstance(node, ast.Assign) and isinstance(target, ast.Tuple):
        yield from (("viewed", each) for each in swapped_copies(node))
    elif isinstance(target, ast.Subscript):
        for key in _keys(target.slice, values):
            changed = replaced(target, slice=key)
            yield "elsewhere", _setting(node, changed)
        for part in shifted(target, values):
            yield "elsewhere", _setting(node, part)
        yield from _both(node, target)
        yield from _added(node, target, values)
        yield from _in_part(node, target, values)
    elif isinstance(node.value, ast.Name) and isinstance(values.get(node.value.id), dict):
        yield "copied", replaced(node, value=_copied(node.value))


def _added(
    node: ast.Assign | ast.AugAssign, target: ast.Subscript, values: Mapping[str, Any]
) -> Iterator[tuple[Kind, ast.stmt]]:
    """Yield a line that adds at each index as often as it comes; `a[ids] += b`, and `a[ids] = b`, set it once."""
    held = values.get(target.slice.id) if isinstance(target.slice, ast.Name) else None
    is_sum = isinstance(node, ast.Assign) or isinstance(node.op, ast.Add)
    if is_sum and isinstance(held, np.ndarray) and held.ndim and held.dtype.kind in "iu":
        function = ast.Attribute(ast.Attribute(ast.Name("np", ast.Load()), "add", ast.Load()), "at", ast.Load())
        array = replaced(target.value, ctx=ast.Load())
        yield "added", ast.Expr(ast.Call(function, [array, target.slice, node.value], []))


def _setting(node: ast.Assign | ast.AugAssign, target: ast.expr) -> Any:
    return replaced(node, **({"targets": [target]} if isinstance(node, ast.Assign) else {"target": target}))


def _both(node: ast.Assign | ast.AugAssign, target: ast.Subscript) -> Iterator[tuple[Kind, ast.stmt]]:
    """Yield a line in which a slice of what is set, and the same one of what it is set to, begin or end elsewhere."""
    texts = {ast.unparse(each) for each in walk(node.value) if isinstance(each, ast.Slice)}
    for old in [each for each in walk(target.slice) if isinstance(each, ast.Slice) and ast.unparse(each) in texts]:
        for new in _bounds(old):
            others = [each for each in walk(node.value) if isinstance(each, ast.Slice)]
            value: Any = node.value
            for each in others:
                value = substituted(value, each, new) if ast.unparse(each) == ast.unparse(old) else value
            yield "elsewhere", replaced(_setting(node, substituted(target, old, new)), value=value)


def _in_part(
    node: ast.Assign | ast.AugAssign, target: ast.Subscript, values: Mapping[str, Any]
) -> Iterator[tuple[Kind, ast.stmt]]:
    """Yield a line that sets a part of rows, as of those of the same table, where it sets whole rows."""
    name = target.value.id if isinstance(target.value, ast.Name) else ""
    if isinstance(target.slice, (ast.Tuple, ast.Slice)) or getattr(values.get(name), "ndim", 0) != 2:
        return
    rows = [each for each in walk(node.value) if isinstance(each, ast.Subscript) and ast.unparse(each.value) == name]
    bounds = [each.id for each in walk(target.slice) if isinstance(each, ast.Name) and type(values.get(each.id)) is int]
    if not rows or any(isinstance(each.slice, (ast.Tuple, ast.Slice)) for each in rows):
        return
    for bound in dict.fromkeys(bounds):
        end = ast.Name(bound, ast.Load())
        for part in (ast.Slice(None, end, None), ast.Slice(end, None, None)):
            value: Any = node.value
            for each in rows:
                value = substituted(value, each, replaced(each, slice=ast.Tuple([each.slice, part], ast.Load())))
            made = replaced(target, slice=ast.Tuple([target.slice, part], ast.Load()))
            yield "elsewhere", replaced(_setting(node, made), value=value)


def _bounds(node: ast.Slice) -> Iterator[ast.Slice]:
    """Yield a slice that begins, or ends, one or two entries elsewhere, or at the name alone of its bound."""
    for name in ("lower", "upper"):
        bound = getattr(node, name)
        if isinstance(bound, ast.BinOp) and isinstance(bound.left, ast.Name):
            yield replaced(node, **{name: bound.left})
        if bound is not None:
            yield replaced(node, **{name: ast.BinOp(bound, ast.Add(), ast.Constant(1))})
            yield replaced(node, **{name: ast.BinOp(bound, ast.Sub(), ast.Constant(1))})


def _orders(targets: list[ast.expr]) -> Iterator[list[ast.expr]]:
    """Yield names with two of them in each other's places."""
    if len(targets) > MOST_TARGETS or any(isinstance(each, ast.Starred) for each in targets):
        return
    for one, other in combinations(range(len(targets)), 2):
        order = list(targets)
        order[one], order[other] = order[other], order[one]
        if list(map(ast.dump, order)) != list(map(ast.dump, targets)):
            yield order


def _keys(key: ast.expr, values: Mapping[str, Any]) -> Iterator[ast.expr]:
    """Yield other keys of a place that is set: a mask the other way round, two indices in each other's places."""
    if isinstance(key, ast.Tuple):
        for place, each in enumerate(key.elts):
            for other in _keys(each, values):
                yield replaced(key, elts=[*key.elts[:place], other, *key.elts[place + 1 :]])
        if len(key.elts) == 2 and all(isinstance(each, ast.Name) for each in key.elts):
            yield replaced(key, elts=key.elts[::-1])
    elif isinstance(key, ast.Constant) and type(key.value) is int:
        places = [name for name, held in values.items() if _are_indices(held)]
        yield from (ast.Name(name, ast.Load()) for name in places[:MOST_KEPT])
    elif isinstance(key, ast.Slice):
        yield from other_blocks(key)
    elif isinstance(key, ast.UnaryOp) and isinstance(key.op, ast.Invert):
        yield key.operand
    elif isinstance(key, ast.Name) and str(getattr(values.get(key.id), "dtype", "")) == "bool":
        yield ast.UnaryOp(ast.Invert(), key)
    elif isinstance(key, ast.Call) or (isinstance(key, ast.Name) and _are_indices(values.get(key.id))):
        own = ast.unparse(key)
        used = {each.id for each in walk(key) if isinstance(each, ast.Name)}
        places = [name for name, held in values.items() if name != own and _are_indices(held) and name not in used]
        yield from (ast.Name(name, ast.Load()) for name in places[:MOST_KEPT])


def _are_indices(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "iu"


def _copied(node: ast.Name) -> ast.expr:
    """Return the copy of a table, with copies of its arrays."""
    key, each = ast.Name("key", ast.Load()), ast.Name("each", ast.Load())
    pair = ast.Tuple([ast.Name("key", ast.Store()), ast.Name("each", ast.Store())], ast.Store())
    items = ast.Call(ast.Attribute(node, "items", ast.Load()), [], [])
    own = ast.Call(ast.Attribute(each, "copy", ast.Load()), [], [])
    return ast.DictComp(key, own, [ast.comprehension(pair, items, [], 0)])


def _stale(holder: ast.AST, definition: ast.FunctionDef) -> list[ast.stmt]:
    """Return lines that set, in a branch of a loop, a name that was set before the loop and never again."""
    if not isinstance(holder, ast.If):
        return []
    loops = [each for each in walk(definition) if isinstance(each, ast.For)]
    loops = [each for each in loops if any(inner is holder for inner in walk(each))]
    if not loops:
        return []
    loop = loops[-1]
    within = _names(loop, ast.Store)
    rounds = [each.id for each in walk(loop.target) if isinstance(each, ast.Name)]
    given = {each.arg for each in (*definition.args.args, *definition.args.kwonlyargs)}
    read = _names(definition, ast.Load) & _names(definition, ast.Store)
    stale = [each for each in sorted(read - within - given) if _is_number(each, definition)]
    return [
        ast.Assign([ast.Name(name, ast.Store())], ast.Name(value, ast.Load()))
        for name in stale[:MOST_KEPT]
        for value in rounds
    ]


def _is_number(name: str, definition: ast.FunctionDef) -> bool:
    """Say whether a name is first set to a number or None that is written out."""
    for each in walk(definition):
        for one, value in _pairs(each) if isinstance(each, ast.Assign) else ():
            if isinstance(one, ast.Name) and one.id == name:
                return isinstance(value, (ast.Constant, ast.UnaryOp))
    return False


def _pairs(node: ast.Assign) -> list[tuple[ast.expr, ast.expr]]:
    """Return what a line sets, each with its value."""
    target = node.targets[0]
    if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
        return list(zip(target.elts, node.value.elts, strict=False))
    return [(target, node.value)]


def _names(node: ast.AST, context: type[ast.expr_context]) -> set[str]:
    return {each.id for each in walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, context)}
