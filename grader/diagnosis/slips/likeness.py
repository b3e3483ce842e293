"""How alike two texts go about one function: loops or arrays, einsum or products; a learner's text is only read."""

from __future__ import annotations

import ast

from grader.submission.source import plain_text

KINDS = (ast.For, ast.While, ast.ListComp, ast.MatMult, ast.Subscript, ast.AugAssign, ast.IfExp, ast.Pow)


def manner_of(text: str, function: str) -> frozenset[str]:
    """Return the names that a function or method calls, and the kinds of its statements; empty where it is not found."""
    known = plain_text(text.encode())
    if known is None:
        return frozenset()
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    found: ast.AST | None = tree
    for part in function.split("."):
        body = getattr(found, "body", [])
        named = (each for each in body if isinstance(each, (ast.FunctionDef, ast.ClassDef)) and each.name == part)
        found = next(named, None)
    if found is None:
        return frozenset()
    nodes = list(ast.walk(found))
    kinds = {kind.__name__ for kind in KINDS if any(isinstance(node, kind) for node in nodes)}
    calls = {getattr(n.func, "attr", getattr(n.func, "id", "")) for n in nodes if isinstance(n, ast.Call)}
    return frozenset(kinds | calls)


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of two sets' names that they have in common (Jaccard), 0 to 1."""
    return len(one & other) / len(one | other) if one and other else 0.0
