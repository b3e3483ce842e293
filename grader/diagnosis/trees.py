"""Goes through syntax trees faster than `ast` does: a diagnosis looks at ten thousand nodes in a tenth of a second.

Trees that hold many changes share most of their nodes, so each node is visited once.
"""

from __future__ import annotations

import ast
from typing import Any, TypeVar

from grader.course.mutants import replaced

Node = TypeVar("Node", bound=ast.AST)
PLAIN = ("ctx", "id", "attr", "level", "module", "type_comment")  # fields that hold no node, or none to look at


class _Holding(dict[type[ast.AST], tuple[str, ...]]):
    """The fields of a kind of node in which other nodes may be; the kinds are few."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        self[kind] = found = () if kind is ast.Constant else tuple(name for name in kind._fields if name not in PLAIN)
        return found


_HOLDING = _Holding()


def walk(root: ast.AST) -> list[ast.AST]:
    """Return a node and all below it, those nearer to it first; without whether names are read or set."""
    found = [root]
    for node in found:
        fields = _HOLDING[node.__class__]
        if not fields:
            continue
        own = node.__dict__
        for name in fields:
            value = own.get(name)
            if value.__class__ is list:
                found += [each for each in value if isinstance(each, ast.AST)]
            elif isinstance(value, ast.AST):
                found.append(value)
    return found


def below(node: ast.AST) -> list[ast.AST]:
    """Return the nodes that one holds, in the order of the text; without whether names are read or set."""
    found: list[ast.AST] = []
    own = node.__dict__
    for name in _HOLDING[node.__class__]:
        value = own.get(name)
        if value.__class__ is list:
            found += [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def is_same(one: ast.AST, other: ast.AST) -> bool:
    """Say whether two expressions have one text."""
    return one is other or (type(one) is type(other) and ast.dump(one) == ast.dump(other))


def placed(root: Node) -> Node:
    """Give each node below a statement or an expression a line, that of what holds it where it has none of its own."""
    seen: set[int] = set()
    waiting: list[tuple[ast.AST, int]] = [(root, getattr(root, "lineno", 1))]
    while waiting:
        node, line = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        own = vars(node)
        if "lineno" in own:
            line = own["lineno"]
        elif "lineno" in node._attributes:
            own.update(lineno=line, end_lineno=line, col_offset=0, end_col_offset=0)
        for name in _HOLDING[node.__class__]:
            value = own.get(name)
            if value.__class__ is list:
                waiting += [(each, line) for each in value if isinstance(each, ast.AST)]
            elif isinstance(value, ast.AST):
                waiting.append((value, line))
    return root


def substituted(node: Any, old: ast.AST, new: Any) -> Any:
    """Return a tree with another node, or another list of statements, in the place of one; the rest is shared."""
    if node is old and isinstance(new, ast.AST):
        return new
    fields: dict[str, Any] = {}
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            if isinstance(new, list) and any(each is old for each in value):
                fields[name] = new
                continue
            changed = [substituted(each, old, new) if isinstance(each, ast.AST) else each for each in value]
            if any(a is not b for a, b in zip(changed, value, strict=True)):
                fields[name] = changed
        elif isinstance(value, ast.AST):
            other = substituted(value, old, new)
            if other is not value:
                fields[name] = other
    return replaced(node, **fields) if fields else node
