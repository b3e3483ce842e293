"""Finds what does nothing in a text, so that a copy padded with such code still compares equal."""

from __future__ import annotations

import ast
import warnings
from collections import Counter

from grader.similarity.expressions import does_nothing, inner, is_text, returns_argument, truth
from grader.similarity.spans import Folded, end, start

_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_BLOCKS = ("body", "orelse", "finalbody")


def folded(text: str) -> Folded | None:
    """Return what a text can do without; None where Python cannot read it.

    What is left is a shape to compare and no program: `x * 1.0` counts as `x`.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, OverflowError, SystemError, RecursionError, MemoryError):
        return None
    folding = _Folding(tree)
    folding.visit(tree)
    return folding.found


class _Folding:
    """One walk over a tree, each node once, without recursion: a text may nest as deep as Python reads it."""

    def __init__(self, tree: ast.Module) -> None:
        self.found = Folded()
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        read = {node.id for node in names if isinstance(node.ctx, ast.Load)}
        self._unread = {node.id for node in names} - read
        self._same = {name for each in tree.body if (name := _same(each)) is not None}
        self._loads = Counter(node.id for node in names if isinstance(node.ctx, ast.Load))
        self._stores = Counter(node.id for node in names if isinstance(node.ctx, ast.Store))

    def visit(self, tree: ast.Module) -> None:
        """Look at every node that is left; what is left out is not looked into."""
        todo: list[tuple[ast.AST, bool]] = [(tree, False)]
        while todo:
            node, local = todo.pop()
            local = (local and not isinstance(node, ast.ClassDef)) or isinstance(node, _FUNCTION)
            if isinstance(node, ast.JoinedStr):
                continue  # is one string, and Pythons before 3.12 do not say where its parts stand
            for field in _BLOCKS:
                if isinstance(body := getattr(node, field, None), list):
                    setattr(node, field, self._block(body, local))
            core = inner(node, self._unread, self._same)
            if core is not None:
                self.found.keep(node, [core])
                self.found.expressions += 1
                todo.append((core, local))
            else:
                todo += [(each, local) for each in ast.iter_child_nodes(node)]
            if isinstance(node, ast.Starred) and isinstance(node.ctx, ast.Load):
                self._spread(node)

    def _spread(self, node: ast.Starred) -> None:
        match node.value:
            case ast.Tuple(elts=[only]) | ast.List(elts=[only]):
                self.found.keep(node, [only])
                self.found.expressions += 1

    def _block(self, body: list[ast.stmt], local: bool) -> list[ast.stmt]:
        """Return the statements of a block that do something, those of an `if True` among them."""
        kept: list[ast.stmt] = []
        todo = body[::-1]
        needless = sum(not is_text(each) for each in body) > 1  # is `pass` then
        while todo:
            statement = todo.pop()
            if kept and isinstance(kept[-1], _ENDS):
                self._drop(statement)
            elif isinstance(statement, ast.Pass) or is_text(statement) or _is_dots(statement):
                self.found.drop(statement)
                self.found.statements += isinstance(statement, ast.Pass) and needless
            elif self._is_idle(statement, local):
                self._drop(statement)
            elif (always := self._always(statement)) is not None:
                self.found.keep(statement, always)
                self.found.statements += 1
                todo += always[::-1]
            elif not (kept and self._continues(kept[-1], statement)):
                kept.append(statement)
                if local and isinstance(statement, ast.AnnAssign):
                    self.found.gone.append((end(statement.target), end(statement.annotation)))
        return kept

    def _drop(self, statement: ast.stmt) -> None:
        self.found.drop(statement)
        self.found.statements += 1

    def _is_idle(self, statement: ast.stmt, local: bool) -> bool:
        match statement:
            case ast.Expr(value=value):
                return does_nothing(value)
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                if isinstance(target, ast.Name) and local and target.id in self._unread:
                    return does_nothing(value)
                return _same(statement) is not None or _equal(target, value)
            case ast.AugAssign(target=target, op=op, value=value):
                return inner(ast.BinOp(target, op, value), (), ()) is target
            case ast.Assert(test=test):
                return truth(test) is True
            case ast.If(test=test, body=body, orelse=[]) | ast.While(test=test, body=body, orelse=[]):
                passes = isinstance(statement, ast.If) and all(isinstance(each, ast.Pass) for each in body)
                return truth(test) is False or (passes and does_nothing(test))
            case ast.FunctionDef():
                return statement.name in self._same
        return False

    def _always(self, statement: ast.stmt) -> list[ast.stmt] | None:
        """Return the statements that a compound one only wraps; None where it does something."""
        match statement:
            case ast.If(test=test, body=body, orelse=other) if (known := truth(test)) is not None:
                return body if known else other
            case ast.While(test=test, orelse=[_, *_] as other) if truth(test) is False:
                return other
            case ast.For(target=ast.Name(id=name), iter=ast.Tuple(elts=[_]) | ast.List(elts=[_]), body=body, orelse=[]):
                return body if name in self._unread else None
            case ast.With(items=[ast.withitem(context_expr=ast.Call(func=called, args=[]), optional_vars=None)]):
                return statement.body if _called(called) in ("nullcontext", "suppress") else None
            case ast.Try(body=body, handlers=handlers, orelse=[], finalbody=last):
                passed_on = all(isinstance(only, ast.Raise) and only.exc is None for h in handlers for only in h.body)
                return body if passed_on and all(isinstance(each, ast.Pass) for each in last) else None
        return None

    def _continues(self, before: ast.stmt, statement: ast.stmt) -> bool:
        """Leave out a name between a value and its use: `t = E; return t`, and `t = E; y = t` if t has no other use."""
        match before, statement:
            case ast.Assign(targets=[ast.Name(id=name) as first], value=value), ast.Return(value=ast.Name(id=used)) if (
                name == used
            ):
                self.found.gone.append((start(first), start(value)))
                self.found.swapped[start(first)] = "return"
                self.found.drop(statement)
                return True
            case ast.Assign(targets=[ast.Name(id=name)]), ast.Assign(targets=[ast.Name()], value=ast.Name(id=used)):
                if name == used and self._loads[name] == self._stores[name] == 1:
                    self.found.drop(statement)
                    return True
        return False


def _same(statement: ast.stmt) -> str | None:
    """Return the name of a function that a statement defines and that only returns its argument."""
    match statement:
        case ast.FunctionDef(name=name) if returns_argument(statement):
            return name
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if returns_argument(value):
            return name
    return None


def _equal(target: ast.expr, value: ast.expr) -> bool:
    """Return True for `x = x` and `x, y = x, y`."""
    match target, value:
        case ast.Name(id=name), ast.Name(id=other):
            return name == other
        case ast.Tuple(elts=left), ast.Tuple(elts=right):
            return len(left) == len(right) and all(
                isinstance(a, ast.Name) and isinstance(b, ast.Name) and a.id == b.id
                for a, b in zip(left, right, strict=True)
            )
    return False


def _is_dots(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Constant(value=value)):
            return value is Ellipsis
    return False


def _called(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
