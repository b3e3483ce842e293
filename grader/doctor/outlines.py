"""Finds the nodes of a syntax tree in which certain lines lie, without looking into the others."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterator


def outlines(tree: ast.AST, lines: list[int]) -> Iterator[ast.AST]:
    """Yield the nodes of a module in which any of these lines lies: few of those of a test."""
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        yield node
        todo += (each for each in ast.iter_child_nodes(node) if _covers(each, lines))


def _covers(node: ast.AST, lines: list[int]) -> bool:
    """Say whether a node, with its decorators, has one of these lines, which are sorted; one without lines may have."""
    if (last := getattr(node, "end_lineno", None)) is None:
        return True
    first = min(each.lineno for each in (node, *getattr(node, "decorator_list", ())))
    place = bisect_left(lines, first)
    return place < len(lines) and lines[place] <= last
