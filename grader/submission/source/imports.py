"""Imports of a module that are not there when a stage is checked: refused, or stood in for."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Sequence

from grader.course.settings import UNSAID
from grader.course.stage import STAGES
from grader.submission.source.problem import Problem, clipped

_WORD = re.compile(r"\bimport\b")
_IMPORTS = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import\b|import[ \t]+(\w[\w., \t]*)$)", re.MULTILINE)
_TOLD = 5  # packages in one sentence
# Names of what runs beside a learner's module: importing one is refused, and no stand-in takes its place.
_OURS = frozenset({"grader", "msgpack", "numpy", "learner_module", STAGES})
# What decides how modules are found: whoever changes it could import what a stand-in takes the place of.
_FINDERS = frozenset({"meta_path", "path_hooks", "path_importer_cache"})


def import_problem(nodes: Sequence[ast.AST], module: str, packages: Sequence[str] = UNSAID) -> Problem | None:
    """The first import that is refused: of another file of the course, or of something of the grader's.

    A module that changes how Python finds modules may import nothing that is not there. Among packages are the modules
    of other stages by full name.
    """
    lent = [each for each in packages if root(each) == STAGES]
    foreign: dict[str, int] = {}
    found = _foreign(nodes, packages)
    is_strict = bool(found) and any(map(_changes_finders, nodes))
    for line, name in found:
        if is_strict or not _may_stand_in(name):
            foreign.setdefault(name if lent and root(name) == STAGES else root(name) or name, line)
    if not foreign:
        return None
    name, line = next(iter(foreign.items()))
    more = and_more(len(foreign) - 1)
    message = f"line {line}: {clipped(name)} is imported, but is unavailable when a stage is checked{more}"
    return Problem("import", message, line, _hint(name, module, packages))


def stand_ins(nodes: Sequence[ast.AST], packages: Sequence[str] = UNSAID) -> tuple[str, ...]:
    """The packages that are not there when the module is checked, each once, in the order of their lines."""
    return tuple(dict.fromkeys(root(name) for _, name in _foreign(nodes, packages) if _may_stand_in(name)))


def only_imports(text: str, packages: Sequence[str]) -> bool:
    """Say whether all that a text could import, at a first look, is Python's or in packages.

    >>> only_imports("import math, numpy as np", ["numpy"]), only_imports("x = 1; import torch", ["numpy"])
    (True, False)
    """
    found = list(_IMPORTS.finditer(text))
    if len(_WORD.findall(text)) != len(found):  # it stands somewhere else, too
        return False
    names = [match[1] or name.strip() for match in found for name in (match[2] or "-").split(",")]
    return all(root(name.split()[0]) in (*packages, *sys.stdlib_module_names) for name in names if name)


def told_of(stood_in: Sequence[str]) -> tuple[str, ...]:
    """Say in one sentence which packages were stood in for; nothing where none was.

    >>> told_of(["torch"])
    ('torch is not available when a stage is checked: the import does nothing, and what uses it fails',)
    """
    if not stood_in:
        return ()
    *others, last = map(clipped, stood_in[:_TOLD])
    names = f"{', '.join(others)} and {last}" if others else last
    verb, what = ("are", "them") if others else ("is", "it")
    more = and_more(len(stood_in) - _TOLD) if len(stood_in) > _TOLD else ""
    told = f"{names}{more} {verb} not available when a stage is checked: "
    return (f"{told}the import does nothing, and what uses {what} fails",)


def _foreign(nodes: Sequence[ast.AST], packages: Sequence[str]) -> list[tuple[int, str]]:
    """Each import of something that is neither Python's nor in packages, with its line."""
    statements = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    lent = [each for each in packages if root(each) == STAGES]
    return [
        (line, name)
        for line, name in sorted((node.lineno, name) for node in statements for name in imported(node))
        if root(name) not in packages and root(name) not in sys.stdlib_module_names and not _is_lent(name, lent)
    ]


def _changes_finders(node: ast.AST) -> bool:
    """Say whether a node names what decides how modules are found."""
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name in _FINDERS
        case ast.ImportFrom(names=names):
            return any(each.name in _FINDERS for each in names)
    return False


def _may_stand_in(name: str) -> bool:
    """Say whether a name may be that of a package: of no file beside, and of nothing private."""
    return not name.startswith((".", "_")) and root(name) not in _OURS


def _hint(name: str, module: str, packages: Sequence[str]) -> str:
    if name == "grader":
        return "Remove the import: a stage needs nothing from the grader."
    lent = [each for each in packages if root(each) == STAGES]
    if root(name) == STAGES or name.startswith("."):
        may = f" Of other stages it may import {' and '.join(lent)}." if lent else ""
        return f"A stage is one file: copy what you need into {module}.{may}"
    needed = f"write, or copy into {module}, what you need from {clipped(name)}."
    *others, last = *packages, "the standard library"
    allowed = f"{', '.join(others)} and {last}" if others else last
    return f"A stage uses {allowed} only: {needed}"


def _is_lent(name: str, lent: Sequence[str]) -> bool:
    """Say whether a dotted name is one of these modules of other stages, is in one, or a package of one."""
    return any(name == each or name.startswith(f"{each}.") or each.startswith(f"{name}.") for each in lent)


def and_more(count: int) -> str:
    """How many others there are, in brackets; nothing where there are none."""
    return f" (and {count} more)" if count else ""


def imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    """The dotted names that an import statement names; a relative one begins with its dots."""
    names = [alias.name for alias in node.names]
    if isinstance(node, ast.Import):
        return names
    module = "." * node.level + (f"{node.module}." if node.module else "")
    return [module + name for name in names]


def root(path: str) -> str:
    """The first part of a dotted name."""
    return path.partition(".")[0]
