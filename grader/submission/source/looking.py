"""The whole look at one module's text, in this process: with no bound on how long Python takes to read it."""

from __future__ import annotations

import ast

from grader.course.stage import Forbidden
from grader.submission.source.forbidden import forbidden_problem
from grader.submission.source.imports import import_problem
from grader.submission.source.parsing import TOO_DEEP, parsed, without_main_block
from grader.submission.source.problem import Problem
from grader.submission.source.text import decoded


def look(text: str, module: str, forbidden: Forbidden) -> Problem | None:
    """The first thing that stands in the way: syntax, then imports, then what the stage forbids."""
    tree = parsed(text)
    if isinstance(tree, Problem):
        return tree
    try:
        nodes = list(ast.walk(without_main_block(tree)))
        return import_problem(nodes, module) or forbidden_problem(nodes, forbidden)
    except RecursionError:
        return TOO_DEEP


def look_at_bytes(source: bytes, module: str, forbidden: Forbidden) -> Problem | None:
    """As look, with the encoding first."""
    text = decoded(source)
    return text if isinstance(text, Problem) else look(text, module, forbidden)
