"""The whole look at one module's text, in this process: with no bound on how long Python takes to read it."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from grader.course.settings import UNSAID
from grader.course.stage import Forbidden
from grader.submission.source.forbidden import Layout, read_forbidden
from grader.submission.source.imports import import_problem
from grader.submission.source.parsing import TOO_DEEP, parsed, without_main_block
from grader.submission.source.problem import Problem, Reading
from grader.submission.source.text import decoded


def look(
    text: str, module: str, forbidden: Forbidden, functions: Sequence[str] = (), packages: Sequence[str] = UNSAID
) -> Reading:
    """The first thing that stands in the way: syntax, then imports, then what the stage forbids those functions."""
    tree = parsed(text)
    if isinstance(tree, Problem):
        return Reading(tree)
    try:
        tree = without_main_block(tree)
        if not (forbidden.operators or forbidden.names):
            return Reading(import_problem(list(ast.walk(tree)), module, packages))
        layout = Layout(tree)
        problem = import_problem(layout.nodes, module, packages)
        return Reading(problem) if problem else read_forbidden(layout, forbidden, functions)
    except RecursionError:
        return Reading(TOO_DEEP)


def look_at_bytes(
    source: bytes, module: str, forbidden: Forbidden, functions: Sequence[str] = (), packages: Sequence[str] = UNSAID
) -> Reading:
    """As look, with the encoding first."""
    text = decoded(source)
    return Reading(text) if isinstance(text, Problem) else look(text, module, forbidden, functions, packages)
