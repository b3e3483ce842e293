"""The loop of a module that a call did not come out of, found from lines where it was seen."""

from __future__ import annotations

import ast
from collections.abc import Sequence

Loop = ast.While | ast.For | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
TEXT_LIMIT = 60


def endless_loop(text: str, seen: Sequence[Sequence[int]]) -> tuple[int, str] | None:
    """Return line and head of the loop that the innermost call was in; None where no call was in one.

    seen has, for each time that was looked, the lines of the calls that ran, outermost first; the last one has only
    those that ran at every time. Of loops within each other it is the innermost `while`, else the innermost one: a
    `for` is mostly over a list that ends.
    """
    if not seen or not seen[-1]:
        return None
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for depth in reversed(range(len(seen[-1]))):
        lines = {each[depth] for each in seen if len(each) > depth}
        if (loop := _around(nodes, min(lines), max(lines))) is not None:
            return _head(loop, text.split("\n"))
    return None


def _around(nodes: Sequence[ast.AST], first: int, last: int) -> Loop | None:
    """Return the loop that holds the lines, within the innermost function that does."""
    functions = [each for each in nodes if isinstance(each, ast.FunctionDef) and _holds(each, first, last)]
    begin = max((each.lineno for each in functions), default=0)
    around = [each for each in nodes if isinstance(each, Loop) and each.lineno > begin and _holds(each, first, last)]
    loops = [each for each in around if isinstance(each, ast.While)] or around
    return max(loops, key=lambda each: each.lineno, default=None)


def _holds(node: ast.stmt | ast.expr, first: int, last: int) -> bool:
    return node.lineno <= first and last <= (node.end_lineno or node.lineno)


def _head(loop: Loop, lines: Sequence[str]) -> tuple[int, str]:
    """Return the line where a loop says what it goes over, and what stands there, without its body."""
    if not isinstance(loop, ast.While | ast.For):
        place = loop.generators[0].target.lineno
        return place, lines[place - 1].strip()[:TEXT_LIMIT]
    head, body = lines[loop.lineno - 1].encode(), loop.body[0]
    until = body.col_offset if body.lineno == loop.lineno else len(head)
    return loop.lineno, head[loop.col_offset : until].decode().partition("#")[0].strip().removesuffix(":")[:TEXT_LIMIT]
