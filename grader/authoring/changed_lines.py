"""The lines in which a wrong module differs from the right one that it was made of, and the functions around them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from grader.course.answers import load_mistakes, reference_source
from grader.course.mutants import BODIES, reach
from grader.course.stage import Stage


@dataclass(frozen=True)
class Change:
    """The lines of a wrong module that differ, and the names by which their functions may be told."""

    lines: frozenset[int]
    functions: frozenset[str]


def change_of(right: str, wrong: str, stage: Stage) -> Change:
    """Return where a wrong module differs from a right one of a stage.

    A line stands for its whole statement, of a compound one for its head. Of what was taken out the lines before and
    after it stand. Beside a function its class may be told and, of a helper that no row names, what calls it.
    """
    differing = _differing(right.splitlines(), wrong.splitlines())
    lines = set(differing)
    functions: set[str] = set()
    for first, last, function in _statements(ast.parse(wrong), ""):
        if differing & set(range(first, last + 1)):
            lines |= set(range(first, last + 1))
            functions |= {function} if function else set()
    return Change(frozenset(lines), frozenset(name for each in functions for name in _names_of(each, wrong, stage)))


def _differing(right: list[str], wrong: list[str]) -> set[int]:
    found: set[int] = set()
    for kind, _, _, first, last in SequenceMatcher(None, right, wrong, autojunk=False).get_opcodes():
        if kind == "delete":
            found |= {first, first + 1}
        elif kind != "equal":
            found |= set(range(first + 1, last + 1))
    return found


def _statements(node: ast.AST, function: str) -> Iterator[tuple[int, int, str]]:
    """Yield the first and the last line of each statement or head, and the function that it stands in."""
    for name in BODIES:
        for each in getattr(node, name, ()):
            inner = function
            if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                inner = f"{function}.{each.name}" if function else each.name
            bodies = [part for other in BODIES for part in getattr(each, other, ())]
            first = getattr(each, "lineno", 0)
            last = getattr(bodies[0], "lineno", first + 1) - 1 if bodies else each.end_lineno
            if first:
                yield first, max(first, last), inner
            yield from _statements(each, inner)


def _names_of(function: str, text: str, stage: Stage) -> set[str]:
    parts = function.split(".")
    names = {".".join(parts[: place + 1]) for place in range(len(parts))} | {function.removesuffix(".__init__")}
    return names | _callers(names, function, text, stage)


def replaced_by(stage: Stage) -> dict[str, frozenset[str]]:
    """Return by id what each known mistake replaces; of a helper that no row names, what calls it in the reference."""
    text = reference_source(stage)
    names = {each.id: each.replaces for each in load_mistakes(stage)}
    return {
        id: frozenset({name} | _callers({name, name.partition(".")[0]}, name, text, stage))
        for id, name in names.items()
    }


def _callers(names: set[str], function: str, text: str, stage: Stage) -> set[str]:
    """Return the functions of rows that come to use one; none where a row names it."""
    rows = {name for row in stage.criteria for name in row.functions}
    if names & rows:
        return set()
    reached = reach(text)
    return {name for name in rows if function.partition(".")[0] in reached(name)}
