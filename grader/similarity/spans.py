"""Parts of a text that do nothing, as places in it: what the tokens of a text leave out or replace.

A place is a line (from 1) and a column in bytes of UTF-8 (from 0), as in Python's syntax trees.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

Place = tuple[int, int]
_FAR: Place = (1 << 60, 0)


@dataclass
class Folded:
    """The spans to leave out, the tokens to replace by their place, and the counts of what does nothing."""

    gone: list[tuple[Place, Place]] = field(default_factory=list)
    swapped: dict[Place, str] = field(default_factory=dict)
    statements: int = 0
    expressions: int = 0

    @property
    def idle(self) -> int:
        """The number of statements and expressions that do nothing."""
        return self.statements + self.expressions

    def drop(self, node: ast.AST) -> None:
        """Leave out a statement or an expression."""
        self.gone.append((start(node), end(node)))

    def keep(self, whole: ast.AST, kept: Iterable[ast.AST]) -> None:
        """Leave out all of a node but some nodes in it, which stand in the order of the text."""
        at = start(whole)
        for each in kept:
            self.gone.append((at, start(each)))
            at = end(each)
        self.gone.append((at, end(whole)))

    def merged(self) -> Gone:
        """Return the spans for look-up."""
        starts: list[Place] = []
        ends: list[Place] = []
        for first, last in sorted(self.gone):
            if ends and first <= ends[-1]:
                ends[-1] = max(ends[-1], last)
            elif first < last:
                starts.append(first)
                ends.append(last)
        return Gone(tuple(starts), tuple(ends))


@dataclass(frozen=True)
class Gone:
    """Disjoint spans in the order of the text."""

    starts: tuple[Place, ...] = ()
    ends: tuple[Place, ...] = ()

    def __contains__(self, place: object) -> bool:
        """Return True if a token that begins at this place is left out."""
        assert isinstance(place, tuple)
        at = bisect_right(self.starts, place) - 1
        return at >= 0 and place < self.ends[at]


def start(node: ast.AST) -> Place:
    """Return where a node begins, with the decorators of a definition."""
    first = min(getattr(node, "decorator_list", ()), key=lambda each: each.lineno, default=None)
    if first is not None:
        return first.lineno, max(first.col_offset - 1, 0)
    return getattr(node, "lineno", 1), getattr(node, "col_offset", 0)


def end(node: ast.AST) -> Place:
    """Return where a node ends."""
    return getattr(node, "end_lineno", None) or _FAR[0], getattr(node, "end_col_offset", None) or 0
