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


def surely_bound(body: Sequence[ast.stmt]) -> dict[str, int]:
    """Return the names that these statements bind whatever happens, with the line after which each is bound."""
    found: dict[str, int] = {}
    for node in body:
        names: list[str] = []
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names = [name]
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                names = [alias.asname or alias.name.partition(".")[0] for alias in aliases]
            case ast.Assign(targets=targets):
                names = [target.id for target in targets if isinstance(target, ast.Name)]
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
                names = [name]
        for name in names:
            found.setdefault(name, node.end_lineno or node.lineno)
    return found
