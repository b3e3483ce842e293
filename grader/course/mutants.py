"""Small wrong changes to a reference solution, made on its syntax tree: a test suite should notice each of them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from grader.course.changes import changed_expressions, changed_statements

BETWEEN = "\n\n\n"  # two statements of a module


@dataclass(frozen=True)
class Mutant:
    """A reference with one change; was and now are the changed statement's first line before and after.

    span holds the first and the last line of what has to run for the change to matter; None where any test may tell.
    """

    function: str
    line: int
    was: str
    now: str
    source: str
    span: tuple[int, int] | None = None


@dataclass(frozen=True)
class Place:
    """Where a node hangs: holder.field or, in a list, holder.field[index]; statement is the innermost around it."""

    holder: ast.AST
    field: str
    index: int | None
    function: str
    statement: ast.stmt

    def put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.holder, self.field, node)
        else:
            getattr(self.holder, self.field)[self.index] = node


def mutants(source: str) -> list[Mutant]:
    """Return every mutant of a module's functions and classes, in the order of its lines, each text once."""
    tree = without_docstrings(ast.parse(source))
    chunks = _chunks(tree)
    found: dict[str, Mutant] = {}
    for number, top in enumerate(tree.body):
        if not isinstance(top, (ast.FunctionDef, ast.ClassDef)):
            continue
        for mutant in _of_definition(tree, number, top, chunks):
            found.setdefault(mutant.source, mutant)
    found.pop(BETWEEN.join(chunks), None)
    return sorted(found.values(), key=lambda mutant: mutant.line)


def plain(source: str) -> str:
    """Return a module's text in the form that its mutants have: without comments and docstrings, a statement a line."""
    return BETWEEN.join(_chunks(without_docstrings(ast.parse(source))))


def _chunks(tree: ast.Module) -> list[str]:
    return [ast.unparse(node) for node in tree.body]


def _of_definition(
    tree: ast.Module, number: int, top: ast.FunctionDef | ast.ClassDef, chunks: list[str]
) -> Iterator[Mutant]:
    inside = _in_functions(top)
    for place, node in list(places(tree, "body", number, top, top.name)):
        was = _headline(place.statement)
        changes = changed_statements(node) if isinstance(node, ast.stmt) else changed_expressions(node, place.holder)
        for change in changes:
            place.put(change)
            now = _headline(change if isinstance(change, ast.stmt) else place.statement)
            source = BETWEEN.join([*chunks[:number], ast.unparse(tree.body[number]), *chunks[number + 1 :]])
            place.put(node)
            yield Mutant(place.function, place.statement.lineno, was, now, source, inside.get(id(place.statement)))


def _in_functions(top: ast.stmt) -> dict[int, tuple[int, int]]:
    """Return the lines of each statement that runs when a function is called, not when the module is loaded.

    A function's own head, with its defaults, matters once any of its lines runs.
    """
    functions = [node for node in ast.walk(top) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    found = (node for function in functions for node in ast.walk(function) if isinstance(node, ast.stmt))
    return {id(node): (node.lineno, node.end_lineno or node.lineno) for node in found if hasattr(node, "lineno")}


def places(
    holder: ast.AST, field: str, index: int | None, node: ast.AST, function: str, statement: ast.stmt | None = None
) -> Iterator[tuple[Place, ast.AST]]:
    """Yield each node that may be changed; texts of errors, annotations and decorators are left as they are."""
    statement = node if isinstance(node, ast.stmt) else statement
    assert statement is not None
    yield Place(holder, field, index, function, statement), node
    if isinstance(node, (ast.Raise, ast.JoinedStr, ast.Import, ast.ImportFrom, ast.Assert)):
        return
    for name, value in ast.iter_fields(node):
        if name in ("decorator_list", "annotation", "returns", "bases", "ctx", "op", "ops"):
            continue
        for number, child in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(child, ast.AST):
                continue
            inner = f"{function}.{child.name}" if isinstance(child, (ast.FunctionDef, ast.ClassDef)) else function
            yield from places(node, name, number if isinstance(value, list) else None, child, inner, statement)


def _headline(statement: ast.stmt) -> str:
    """Return a statement as one line; of a compound one what stands before its colon, of a definition its def."""
    lines = ast.unparse(statement).splitlines()
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return next(line for line in lines if not line.startswith("@"))
    return lines[0]


BODIES = ("body", "orelse", "finalbody", "handlers", "cases")  # of a compound statement


def without_docstrings(tree: ast.Module) -> ast.Module:
    waiting: list[Any] = [tree]
    for node in waiting:
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        waiting += [each for name in BODIES for each in getattr(node, name, ())]
    return tree


def reach(source: str) -> Callable[[str], set[str]]:
    """Return what tells the functions and classes of a module that one of them, by its full name, may come to use."""
    uses: dict[str, set[str]] = {}
    for node in ast.parse(source).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            uses[node.name] = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}

    def reached(name: str) -> set[str]:
        found: set[str] = set()
        waiting = [name.partition(".")[0]]
        while waiting:
            here = waiting.pop()
            if here not in found and here in uses:
                found.add(here)
                waiting += uses[here]
        return found

    return reached
