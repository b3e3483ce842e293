"""What can be said about a learner's module from its text alone: does it read, what does it import, what is forbidden.

Everything here looks at the syntax tree; nothing is run. What stands under `if __name__ == "__main__":` is left alone,
because it never runs when a stage is checked: that is the place for trying things out and for plots.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from grader.course.stage import Stage, public_names
from grader.submission import Snapshot
from grader.submission.source.apart import look_apart
from grader.submission.source.forbidden import ARRAY_METHODS
from grader.submission.source.imports import import_problem, only_imports, root, stand_ins, told_of
from grader.submission.source.looking import look
from grader.submission.source.parsing import is_python, parsed, without_main_block
from grader.submission.source.plain import is_plain
from grader.submission.source.problem import Problem, Reading
from grader.submission.source.text import decoded, quick_to_decode

__all__ = [
    "ARRAY_METHODS",
    "Problem",
    "Reading",
    "check_loading",
    "check_source",
    "defined_names",
    "missing_names",
    "plain_text",
    "refused_rows",
    "told_of",
]


def check_source(stage: Stage, snapshot: Snapshot) -> Reading:
    """What stands in the way: encoding, then syntax, then imports, then, for each function, what the stage forbids.

    A text that may take Python long is read in another process. Raises GraderFault where there is none to be had.
    """
    functions = tuple(dict.fromkeys(name for row in stage.criteria for name in row.functions))
    text = _plain(snapshot.source)
    if text is None:
        return look_apart(snapshot.source, stage.module, stage.forbidden, functions, stage.importable)
    return (
        Reading(text)
        if isinstance(text, Problem)
        else look(text, stage.module, stage.forbidden, functions, stage.importable)
    )


def check_loading(stage: Stage, snapshot: Snapshot) -> Reading:
    """As check_source, without what the stage forbids: whether a module can be imported, as far as its text tells."""
    text = _plain(snapshot.source)
    if text is None:
        return check_source(stage, snapshot)
    if isinstance(text, str) and only_imports(text, stage.importable) and is_python(text):
        return Reading()  # as most are: no tree is needed
    tree = text if isinstance(text, Problem) else parsed(text)
    if isinstance(tree, Problem):
        return Reading(tree)
    nodes = list(ast.walk(without_main_block(tree)))
    problem = import_problem(nodes, stage.module, stage.importable)
    return Reading(problem, stood_in=stand_ins(nodes, stage.importable))


def refused_rows(stage: Stage, reading: Reading) -> dict[str, Problem]:
    """The rows of the checklist that are about a refused function, each with the problem that comes first."""
    found: dict[str, Problem] = {}
    for row in stage.criteria:
        if problems := [reading.refused[name] for name in row.functions if name in reading.refused]:
            found[row.id] = min(problems, key=lambda problem: problem.line or 0)
    return found


def plain_text(source: bytes) -> str | None:
    """The text of a module, if it is one that Python is known to read at once."""
    text = _plain(source)
    return text if isinstance(text, str) else None


@lru_cache(8)  # of a module that is graded it is asked before a judge is forked, and in it again and again
def _plain(source: bytes) -> str | Problem | None:
    """The text, or why it has none; nothing where it is not plain."""
    if not quick_to_decode(source):
        return None
    text = decoded(source)
    return text if isinstance(text, Problem) or is_plain(text) else None


def defined_names(source: bytes) -> set[str]:
    """Names that the top level of a module of the course binds; none where the text is no Python."""
    text = decoded(source)
    tree = text if isinstance(text, Problem) else parsed(text)
    if isinstance(tree, Problem):
        return set()
    return {name for statement in without_main_block(tree).body for name in _bound(statement)}


def missing_names(stage: Stage, snapshot: Snapshot) -> tuple[str, ...]:
    """Public names of the stage that the module's text does not define."""
    defined = defined_names(snapshot.source)
    return tuple(name for name in public_names(stage) if name not in defined)


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement binds around it; the inside of a function, class or comprehension is its own."""
    queue: list[ast.AST] = [statement]
    while queue:
        match node := queue.pop():
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                yield from (alias.asname or root(alias.name) for alias in aliases)
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.AnnAssign(value=None) | ast.comprehension():
                continue
            case _:
                queue.extend(ast.iter_child_nodes(node))
