"""Which imports of a module are not there when a stage is checked."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence

from grader.course.settings import UNSAID
from grader.course.stage import STAGES
from grader.submission.source.problem import Problem, clipped


def import_problem(nodes: Sequence[ast.AST], module: str, packages: Sequence[str] = UNSAID) -> Problem | None:
    """The first import of something that is not there when the module is checked: neither Python's nor in packages.

    Among packages are the modules of other stages by full name.
    """
    foreign: dict[str, int] = {}
    statements = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    lent = [each for each in packages if root(each) == STAGES]
    for line, name in sorted((node.lineno, name) for node in statements for name in imported(node)):
        if root(name) not in packages and root(name) not in sys.stdlib_module_names and not _is_lent(name, lent):
            foreign.setdefault(name if lent and root(name) == STAGES else root(name) or name, line)
    if not foreign:
        return None
    name, line = next(iter(foreign.items()))
    more = and_more(len(foreign) - 1)
    message = f"line {line}: {clipped(name)} is imported, but is unavailable when a stage is checked{more}"
    return Problem("import", message, line, _hint(name, module, packages))


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
