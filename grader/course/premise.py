"""The premise of a known mistake: what a learner's text holds or lacks where the mistake's sentence is true.

    absent = ["sqrt", "_ ** 0.5"]      # "the square root is missing"
    present = ["mask"]                 # "the mask is inverted"

A plain name stands for that name wherever it is used: of a variable, an attribute, a keyword, a function or a key; that
an argument of the function has the name does not count. Any other pattern is a Python expression or statement, in
which _ stands for any expression.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

ANY = "_"


@dataclass(frozen=True)
class Premise:
    """Patterns of which none may be in a text, and patterns of which each has to be."""

    absent: tuple[str, ...] = ()
    present: tuple[str, ...] = ()

    def contradiction(self, functions: Iterable[ast.AST]) -> tuple[str, str] | None:
        """Return the key and the pattern that functions contradict; None where the premise holds."""
        nodes = [node for function in functions for node in ast.walk(function)]
        for pattern in self.absent:
            if any(is_match(parsed(pattern), node) for node in nodes):
                return "absent", pattern
        for pattern in self.present:
            if not any(is_match(parsed(pattern), node) for node in nodes):
                return "present", pattern
        return None

    def __bool__(self) -> bool:
        return bool(self.absent or self.present)


@lru_cache(512)  # patterns of a stage
def parsed(pattern: str) -> ast.AST:
    """Return the tree of a pattern; SyntaxError where it is none."""
    statements = ast.parse(pattern).body
    if len(statements) != 1:
        raise SyntaxError(f"{pattern!r} is not one expression or statement")
    (statement,) = statements
    return statement.value if isinstance(statement, ast.Expr) else statement


def is_match(pattern: ast.AST, node: ast.AST) -> bool:
    """Say whether a node is what a pattern stands for."""
    if isinstance(pattern, ast.Name):
        return pattern.id in _names(node)
    return _is_same(pattern, node)


def _names(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            yield name
        case ast.keyword(arg=str(name)) | ast.Constant(value=str(name)):
            yield name


def _is_same(pattern: object, node: object) -> bool:
    if isinstance(pattern, ast.Name) and pattern.id == ANY:
        return isinstance(node, ast.expr)
    if isinstance(pattern, list) and isinstance(node, list):
        return len(pattern) == len(node) and all(map(_is_same, pattern, node))
    if isinstance(pattern, ast.AST):
        names = [name for name in pattern._fields if name not in ("ctx", "type_comment")]
        same = type(pattern) is type(node)
        return same and all(_is_same(getattr(pattern, name, None), getattr(node, name, None)) for name in names)
    return type(pattern) is type(node) and pattern == node
