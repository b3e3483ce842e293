"""The kinds of nodes in a syntax tree: which bind names, which open a place, which call nothing, which tell nothing."""

from __future__ import annotations

import ast
from collections.abc import Sequence

BINDING = frozenset({
    ast.Name, ast.arg, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom,
    ast.ExceptHandler, ast.MatchAs, ast.MatchStar,
})  # fmt: skip
OPENING = frozenset({
    ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.GeneratorExp, ast.Assign, ast.AnnAssign,
})  # fmt: skip
_IDLE = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.Constant)
_INERT = (
    ast.Name, ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Attribute, ast.Subscript, ast.Lambda,
    ast.expr_context,
)  # fmt: skip


def parts(node: ast.AST) -> list[ast.AST]:
    """The children of a node that can tell anything; a constant, an operator or a context cannot."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [part for part in value if isinstance(part, ast.AST) and not isinstance(part, _IDLE)]
        elif isinstance(value, ast.AST) and not isinstance(value, _IDLE):
            found.append(value)
    return found


def is_inert(expressions: Sequence[ast.expr]) -> bool:
    """Whether expressions only name things: to evaluate them calls nothing; the inside of a lambda is for later."""
    queue: list[ast.AST] = list(expressions)
    while queue:
        node = queue.pop()
        if not isinstance(node, _INERT):
            return False
        queue.extend(parts(node) if not isinstance(node, ast.Lambda) else ())
    return True
