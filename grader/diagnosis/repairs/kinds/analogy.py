"""What a function's other lines show: of lines that are made alike, one differs or is missing; a default is another.

And what a mask may have to do once more: it leaves entries of one array out, and those of another stay.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np

from grader.course.changes import replaced
from grader.diagnosis.slips.statements import Kind
from grader.diagnosis.trees import walk

MOST_LIKE = 6  # lines that one is compared with
MOST_MASKS = 3
BODIES = ("body", "orelse")
_WORD = re.compile(r"[A-Za-z_]\w*")


def alike(value: ast.AST, holder: ast.AST, definition: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield how a line's value would be made if it were made as those of its likes: keys as queries and values."""
    target = _target(holder)
    if target is None or getattr(holder, "value", None) is not value:
        return
    words = _words(definition)
    own = ast.dump(value)
    found: dict[str, ast.AST] = {}
    likes = [each for each in walk(definition) if isinstance(each, ast.Assign) and each is not holder]
    for other in likes:
        edit = _edit(_target(other), target)
        if edit is None or len(found) == MOST_LIKE:
            continue
        for changed in (_renamed(other.value, *edit, words), other.value):
            text = ast.dump(changed)
            if text != own and type(changed) is type(other.value) and _is_near(changed, value):
                found.setdefault(text, changed)
    yield from found.values()


def in_other_case(node: ast.AST, holder: ast.AST, definition: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield what another line that sets the same name gives its function: median(present) beside mean(present)."""
    if not isinstance(holder, ast.Call) or holder.args[:1] != [node]:
        return
    lines = [each for each in walk(definition) if isinstance(each, ast.Assign) and isinstance(each.value, ast.Call)]
    names = {ast.unparse(each.targets[0]) for each in lines if each.value is holder}
    if not names:
        return
    found: dict[str, ast.expr] = {}
    for each in lines:
        call = each.value
        if isinstance(call, ast.Call) and call is not holder and ast.unparse(each.targets[0]) in names and call.args:
            found.setdefault(ast.unparse(call.args[0]), call.args[0])
    found.pop(ast.unparse(node), None)
    yield from list(found.values())[:MOST_LIKE]


def inserted(
    holder: ast.AST,
    definition: ast.FunctionDef,
    wanted: Callable[[ast.stmt], bool] = lambda statement: True,
    values: Mapping[str, Any] = MappingProxyType({}),
) -> Iterator[tuple[Kind, str, int, list[ast.stmt]]]:
    """Yield a body with a line more, made as one that is there: the variance is updated as the mean is.

    What the line is made as has to be wanted, or what uses the names that it sets.
    """
    uses = [each for each in walk(definition) if isinstance(each, (ast.Assign, ast.Return)) and wanted(each)]
    loaded = _names(definition, ast.Load)
    given = {each.arg for each in (*definition.args.args, *definition.args.kwonlyargs)}
    own = given | _names(definition, ast.Store)
    words = _words(definition)
    for name in BODIES:
        body = getattr(holder, name, None)
        if not isinstance(body, list) or not body or not isinstance(body[0], ast.stmt):
            continue
        for place, statement in enumerate(body):
            if not isinstance(statement, (ast.Assign, ast.AugAssign, ast.Expr)):
                continue
            for near in _counterparts(statement, words, loaded | own):
                sets = _names(near, ast.Store)
                if not sets <= own:
                    continue  # a name that a function sets is its own in all of its lines
                if not wanted(statement) and not any(sets & _names(each, ast.Load) for each in uses):
                    continue
                for other in (near, *_of_others(near, statement, values)):
                    yield "missing", name, place, [*body[: place + 1], other, *body[place + 1 :]]


def _of_others(near: ast.stmt, statement: ast.stmt, values: Mapping[str, Any]) -> Iterator[ast.stmt]:
    """Yield a counterpart in which a name that it shares with the statement is another one, of a value like its own.

    That has its shape, or is an array of indices as well.
    """
    shared = {each.id: each for each in walk(statement) if isinstance(each, ast.Name)}
    known = {each.id for each in walk(near) if isinstance(each, ast.Name)}
    for name in sorted(shared.keys() & known):
        shape, is_index = getattr(values.get(name), "shape", None), _is_index(values.get(name))
        likes = [
            each
            for each, held in values.items()
            if each not in known and (getattr(held, "shape", None) == shape or (is_index and _is_index(held)))
        ]
        for other in likes[:MOST_LIKE] if shape else ():
            changed = _renamed(near, name, other, frozenset((other,)))
            if isinstance(changed, ast.stmt):
                yield changed


def _is_index(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "iu"


def _counterparts(statement: ast.stmt, words: frozenset[str], known: frozenset[str]) -> Iterator[ast.stmt]:
    """Yield a statement with other names that are its own's kin, as var for mean; each name has to be known."""
    own = {each.id for each in walk(statement) if isinstance(each, ast.Name)}
    edits: dict[tuple[str, str], None] = {}
    for name in sorted(own):
        for other in sorted(known - own):
            edit = _edit(name, other)
            if edit is not None and min(map(len, edit)) > 1:
                edits[edit] = None
    for old, new in list(edits)[:MOST_LIKE]:
        changed = _renamed(statement, old, new, words)
        if isinstance(changed, ast.stmt) and ast.dump(changed) != ast.dump(statement):
            yield changed


def defaults(node: ast.FunctionDef, right: ast.FunctionDef | None) -> Iterator[tuple[Kind, ast.Assign]]:
    """Yield what gives an argument the right module's default where it has another."""
    theirs = {} if right is None else _defaults(right)
    for name, value in _defaults(node).items():
        other = theirs.get(name)
        if isinstance(value, ast.Constant) and isinstance(other, ast.Constant) and value.value != other.value:
            load = ast.Name(name, ast.Load())
            kept = ast.IfExp(ast.Compare(load, [ast.Eq()], [value]), other, load)
            yield "default", ast.Assign([ast.Name(name, ast.Store())], kept)


def _defaults(node: ast.FunctionDef) -> dict[str, ast.expr]:
    found = [*node.args.posonlyargs, *node.args.args]
    plain = dict(zip(reversed([each.arg for each in found]), reversed(node.args.defaults), strict=False))
    only = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    return plain | {each.arg: value for each, value in only if value is not None}


def _target(node: ast.AST) -> str | None:
    """Return what one plain assignment sets, as a text."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1 or isinstance(node.targets[0], ast.Tuple):
        return None
    return ast.unparse(node.targets[0])


@lru_cache(maxsize=1 << 12)
def _edit(one: str | None, other: str | None) -> tuple[str, str] | None:
    """Return what has to be replaced in one name, and by what, to have the other; None for names that are no kin."""
    if one is None or other is None or one == other:
        return None
    start = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    end = 0
    while end < min(len(one), len(other)) - start and one[-1 - end] == other[-1 - end]:
        end += 1
    old, new = one[start : len(one) - end], other[start : len(other) - end]
    shared = start + end
    return (old, new) if old and new and shared >= min(len(old), len(new)) else None


def _renamed(node: ast.AST, old: str, new: str, words: frozenset[str]) -> ast.AST:
    """Return a tree with a part of its names replaced, wherever the text knows the name that comes of it."""
    fields: dict[str, object] = {}
    for name, value in ast.iter_fields(node):
        if isinstance(value, str) and name in ("id", "attr", "arg", "value") and old in value:
            other = value.replace(old, new, 1)
            fields[name] = other if other in words else value
        elif isinstance(value, list):
            fields[name] = [_renamed(each, old, new, words) if isinstance(each, ast.AST) else each for each in value]
        elif isinstance(value, ast.AST):
            fields[name] = _renamed(value, old, new, words)
    return replaced(node, **fields) if fields else node


def _is_near(one: ast.AST, other: ast.AST) -> bool:
    """Say whether two expressions have names in common, or are calls of one function."""
    ours, theirs = (set(_WORD.findall(ast.unparse(each))) for each in (one, other))
    return len(ours & theirs) * 2 >= min(len(ours), len(theirs))


@lru_cache(maxsize=16)
def _words(definition: ast.FunctionDef) -> frozenset[str]:
    return frozenset(_WORD.findall(ast.unparse(definition)))


@lru_cache(maxsize=1 << 9)
def _names(node: ast.AST, context: type[ast.expr_context]) -> frozenset[str]:
    walked = (each for each in walk(node) if isinstance(each, ast.Name))
    return frozenset(each.id for each in walked if isinstance(each.ctx, context))


def masked(
    holder: ast.AST, wanted: Callable[[ast.stmt], bool], values: Mapping[str, Any]
) -> Iterator[tuple[Kind, str, int, list[ast.stmt]]]:
    """Yield a body in which a wanted line that sets an array is followed by one that sets it to 0 outside of a mask."""
    masks = [name for name, held in values.items() if isinstance(held, np.ndarray) and held.dtype == bool and held.ndim]
    for name in BODIES:
        held_body = getattr(holder, name, None)
        body: list[ast.stmt] = held_body if masks and isinstance(held_body, list) else []
        for place, statement in enumerate(body):
            target = _array_set(statement) if wanted(statement) else None
            held = values.get(target or "")
            if target is None or not isinstance(held, np.ndarray) or held.dtype.kind != "f":
                continue
            for mask in [each for each in masks if held.shape[: values[each].ndim] == values[each].shape][:MOST_MASKS]:
                key = ast.UnaryOp(ast.Invert(), ast.Name(mask, ast.Load()))
                part = ast.Subscript(ast.Name(target, ast.Load()), key, ast.Store())
                line = ast.Assign([part], ast.Constant(0))
                yield "masked", name, place, [*body[: place + 1], line, *body[place + 1 :]]


def _array_set(node: ast.AST) -> str | None:
    """Return the name of which a line sets all, or some entries."""
    if not isinstance(node, (ast.Assign, ast.AugAssign)):
        return None
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    target = target.value if isinstance(target, ast.Subscript) else target
    return target.id if isinstance(target, ast.Name) else None
