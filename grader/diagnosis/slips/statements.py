"""What people get wrong between statements: their order, what is set anew in a loop, where a function returns."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from grader.course.changes import changed_statements, replaced
from grader.diagnosis.slips.changes import Scope, alike
from grader.diagnosis.slips.formulas import transposed
from grader.diagnosis.trees import walk

Kind = Literal[
    "", "order", "reset", "return_within", "overwrites", "accumulates", "indented", "after",
    "ignored", "inverted", "transposed", "exchanged", "fixed", "thrown_away", "missing", "default", "aligned",
    "hoisted", "return_after", "unpacked", "elsewhere", "copied", "kept", "guarded", "freed",
    "viewed", "mirrored", "late", "shifted", "masked", "added", "moved", "counted", "afresh", "restarted",
]  # fmt: skip
BODIES = ("body", "orelse")
SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr)
MOST_MIRRORED = 4  # pairs of names of one case


def natural_statements(node: ast.stmt) -> Iterator[tuple[Kind, ast.stmt]]:
    """Yield what may stand in a statement's place."""
    for change in changed_statements(node):
        if isinstance(change, ast.stmt):
            yield "", change
    if isinstance(node, ast.AugAssign):
        target = replaced(node.target, ctx=ast.Store())
        yield "overwrites", ast.Assign([target], node.value)
    if isinstance(node, ast.If):
        yield "", replaced(node, test=ast.UnaryOp(ast.Not(), node.test))
        if node.orelse:
            yield "", replaced(node, orelse=[])
    if isinstance(node, (ast.Continue, ast.Break)):
        yield "", ast.Pass()
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
        yield "", ast.Pass()
        yield "accumulates", ast.AugAssign(node.targets[0], ast.Add(), node.value)


def repaired_statements(node: ast.stmt) -> Iterator[tuple[Kind, ast.stmt]]:
    """Yield what may have to stand in a statement's place, where a learner wrote it."""
    if isinstance(node, ast.AugAssign):
        target = replaced(node.target, ctx=ast.Store())
        yield "accumulates", ast.Assign([target], node.value)
        for operator in (ast.Add, ast.Sub):
            if type(node.op) in (ast.Add, ast.Sub) and type(node.op) is not operator:
                yield "", replaced(node, op=operator())
        yield "", ast.Pass()
    elif isinstance(node, ast.Assign) and len(node.targets) == 1 and not isinstance(node.targets[0], ast.Tuple):
        for operator in (ast.Add, ast.Sub):
            if isinstance(node.targets[0], (ast.Name, ast.Attribute, ast.Subscript)):
                yield "overwrites", ast.AugAssign(node.targets[0], operator(), node.value)
        yield "", ast.Pass()
    elif isinstance(node, ast.If) and not isinstance(node.body[0], ast.Raise):
        yield from (("mirrored", each) for each in mirrored(node))
        yield "", replaced(node, test=ast.UnaryOp(ast.Not(), node.test))
        yield "", replaced(node, test=ast.Constant(True))
        yield "", replaced(node, test=ast.Constant(False))
    elif isinstance(node, ast.Expr):
        yield "", ast.Pass()
        if isinstance(node.value, ast.Call) and node.value.args and isinstance(node.value.args[0], ast.Name):
            yield "thrown_away", ast.Assign([ast.Name(node.value.args[0].id, ast.Store())], node.value)
        if isinstance(node.value, ast.BinOp) and isinstance(node.value.left, ast.Name):
            yield "thrown_away", ast.Assign([ast.Name(node.value.left.id, ast.Store())], node.value)


def mirrored(node: ast.If) -> Iterator[ast.If]:
    """Yield a case with the same one behind it for the other of two names: `elif n == 1` after `if m == 1`."""
    names = list(dict.fromkeys(each.id for each in walk(node.test) if isinstance(each, ast.Name)))
    own = [each for part in node.body for each in walk(part) if isinstance(each, ast.Name)]
    used = dict.fromkeys([*names, *(each.id for each in own)])
    pairs = [(one, other) for one in names for other in used if one != other]
    for one, other in pairs[:MOST_MIRRORED]:
        test = _exchanged(node.test, one, other)
        body = [_exchanged(each, one, other) for each in node.body]
        if ast.dump(test) != ast.dump(node.test) and ast.dump(test) not in map(ast.dump, _tests_behind(node)):
            yield replaced(node, orelse=[replaced(node, test=test, body=body)])


def _tests_behind(node: ast.If) -> Iterator[ast.expr]:
    """Yield the conditions of the cases behind one."""
    while len(node.orelse) == 1 and isinstance(other := node.orelse[0], ast.If):
        yield other.test
        node = other


def _exchanged(node: Any, one: str, other: str) -> Any:
    """Return a tree with two names in each other's places."""
    fields: dict[str, Any] = {}
    for name, value in ast.iter_fields(node):
        if name == "id" and value in (one, other):
            fields[name] = other if value == one else one
        elif isinstance(value, ast.AST):
            fields[name] = _exchanged(value, one, other)
        elif isinstance(value, list):
            fields[name] = [_exchanged(each, one, other) if isinstance(each, ast.AST) else each for each in value]
    return replaced(node, **fields)


def natural_orders(holder: ast.AST) -> Iterator[tuple[Kind, str, int, list[ast.stmt]]]:
    """Yield other orders of the statements that a node holds: the field, the statement it is about, the new list."""
    for name in BODIES:
        body = getattr(holder, name, None)
        if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
            if any(isinstance(each, (ast.Nonlocal, ast.Global)) for each in body):
                continue  # a declaration comes first, and once
            for kind, place, changed in _orders(body):
                yield kind, name, place, changed


def _orders(body: list[ast.stmt]) -> Iterator[tuple[Kind, int, list[ast.stmt]]]:
    for place, (first, second) in enumerate(pairwise(body)):
        if isinstance(second, ast.Return) or isinstance(first, (ast.Return, ast.Raise)):
            pass
        elif _depend(first, second):
            yield "order", place, [*body[:place], second, first, *body[place + 2 :]]
        if not isinstance(second, (ast.For, ast.While)):
            continue
        if isinstance(first, ast.Assign):
            inside = replaced(second, body=[first, *second.body])
            yield "reset", place, [*body[:place], first, inside, *body[place + 2 :]]
        following = body[place + 2] if place + 2 < len(body) else None
        if isinstance(following, ast.Return):
            early = replaced(second, body=[*second.body, following])
            yield "return_within", place + 1, [*body[: place + 1], early, *body[place + 2 :]]
    for place, loop in enumerate(body):
        if isinstance(loop, ast.For) and len(loop.body) > 1 and not leaves(loop.body[-1]):
            shorter = replaced(loop, body=loop.body[:-1])
            yield "after", place, [*body[:place], shorter, loop.body[-1], *body[place + 1 :]]
        following = body[place + 1] if place + 1 < len(body) else None
        if isinstance(loop, ast.For) and isinstance(following, (ast.Assign, ast.AugAssign, ast.Expr)):
            longer = replaced(loop, body=[*loop.body, following])
            yield "indented", place + 1, [*body[:place], longer, *body[place + 2 :]]


def leaves(node: ast.stmt) -> bool:
    """Say whether a statement ends a loop or its round, or the function."""
    return any(isinstance(each, (ast.Return, ast.Raise, ast.Break, ast.Continue)) for each in walk(node))


def argument_changes(node: ast.FunctionDef, scope: Scope) -> Iterator[tuple[Kind, ast.Assign]]:
    """Yield what may happen to an argument before a function begins: ignored, inverted, transposed, exchanged."""
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    names = [each.arg for each in arguments if each.arg != "self" and each.arg in scope.values]
    given = scope.defaults
    for place, name in enumerate(names):
        value = scope.values[name]
        load, store = ast.Name(name, ast.Load()), ast.Name(name, ast.Store())
        if name in given:
            yield "ignored", ast.Assign([store], given[name])
            if isinstance(given[name], ast.Constant) and isinstance(given[name].value, bool):  # type: ignore[attr-defined]
                yield "inverted", ast.Assign([store], ast.UnaryOp(ast.Not(), load))
        if isinstance(value, np.ndarray):
            if value.dtype == bool:
                yield "inverted", ast.Assign([store], ast.UnaryOp(ast.Invert(), load))
            elif value.ndim > 1:
                yield "transposed", ast.Assign([store], transposed(load))
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            for number in (0, 1):
                if number != value:
                    yield (
                        "fixed",
                        ast.Assign([store], ast.Constant(float(number) if isinstance(value, float) else number)),
                    )
        for other in names[place + 1 :]:
            if alike(value, scope.values[other]):
                pair = ast.Tuple([store, ast.Name(other, ast.Store())], ast.Store())
                yield "exchanged", ast.Assign([pair], ast.Tuple([ast.Name(other, ast.Load()), load], ast.Load()))


def _depend(first: ast.stmt, second: ast.stmt) -> bool:
    """Say whether the order of two statements may matter: one sets what the other reads or sets."""
    return bool(_set(first) & _read(second)) or bool(_set(second) & _read(first)) or (_does(first) and _does(second))


def _does(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr)


def _set(node: ast.stmt) -> set[str]:
    names: set[str] = set()
    for each in walk(node):
        if isinstance(getattr(each, "ctx", None), ast.Store):
            root = each
            while isinstance(root, (ast.Attribute, ast.Subscript, ast.Starred)):
                root = root.value
            names |= {ast.unparse(each)} | ({root.id} if isinstance(root, ast.Name) and root.id != "self" else set())
    return names


def _read(node: ast.stmt) -> set[str]:
    loads = (each for each in walk(node) if isinstance(getattr(each, "ctx", None), ast.Load))
    found = {ast.unparse(each) for each in loads if isinstance(each, (ast.Name, ast.Attribute))}
    return found | (_set(node) if isinstance(node, ast.AugAssign) else set())
