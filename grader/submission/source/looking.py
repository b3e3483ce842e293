"""The whole look at one module's text, in this process: with no bound on how long Python takes to read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from grader.course.settings import UNSAID
from grader.course.stage import Forbidden
from grader.submission.source.forbidden import Layout, read_forbidden
from grader.submission.source.imports import import_problem, stand_ins
from grader.submission.source.parsing import TOO_DEEP, parsed, without_main_block
from grader.submission.source.problem import Problem, Reading
from grader.submission.source.text import decoded


def look(
    text: str, module: str, forbidden: Forbidden, functions: Sequence[str] = (), packages: Sequence[str] = UNSAID
) -> Reading:
    """The first thing that stands in the way: syntax, then imports, then what the stage forbids those functions."""
    layout = laid_out(text)
    if isinstance(layout, Problem):
        return Reading(layout)
    try:
        problem = import_problem(layout.nodes, module, packages)
        if problem is not None:
            return Reading(problem)
        found = read_forbidden(layout, forbidden, functions)
        return replace(found, stood_in=stand_ins(layout.nodes, packages))
    except RecursionError:
        return Reading(TOO_DEEP)


@lru_cache(4)  # it is asked for before a judge is forked, and again in it
def laid_out(text: str) -> Layout | Problem:
    """Where each part of a module stands; or what stands in the way of reading it."""
    tree = parsed(text)
    if isinstance(tree, Problem):
        return tree
    try:
        return Layout(without_main_block(tree))
    except RecursionError:
        return TOO_DEEP


def look_at_bytes(
    source: bytes, module: str, forbidden: Forbidden, functions: Sequence[str] = (), packages: Sequence[str] = UNSAID
) -> Reading:
    """As look, with the encoding first."""
    text = decoded(source)
    return Reading(text) if isinstance(text, Problem) else look(text, module, forbidden, functions, packages)
