"""Finds what does nothing in a text, so that a copy padded with such code still compares equal.

That are statements without an effect, and expressions that only wrap another one: `(x,)[0]`, `x + 0`, `not not x`,
`(lambda: x)()`. A place is a line (from 1) and a column in bytes of UTF-8 (from 0), as in Python's syntax trees.
"""

from __future__ import annotations

import ast
import warnings
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Container, Iterable
from types import EllipsisType

_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_BLOCKS = ("body", "orelse", "finalbody")
_PURE = (
    *(ast.Constant, ast.Name, ast.Lambda, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.BinOp, ast.UnaryOp),
    *(ast.BoolOp, ast.Compare, ast.Attribute, ast.Subscript, ast.IfExp, ast.Slice, ast.Starred),
    *(ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context, ast.arguments, ast.arg),
)
Place = tuple[int, int]


def start(node: ast.AST) -> Place:
    """Return where a node begins, with the decorators of a definition."""
    first = min(getattr(node, "decorator_list", ()), key=lambda each: each.lineno, default=None)
    if first is not None:
        return first.lineno, max(first.col_offset - 1, 0)
    return getattr(node, "lineno", 1), getattr(node, "col_offset", 0)


def end(node: ast.AST) -> Place:
    """Return where a node ends."""
    return getattr(node, "end_lineno", None) or 1 << 60, getattr(node, "end_col_offset", None) or 0


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
    return Folded(tree)


class Folded:
    """The spans to leave out, the tokens to replace by their place, and how much there is that does nothing.

    They are found in one walk, each node once, without recursion: a text may nest as deep as Python reads it.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.gone: list[tuple[Place, Place]] = []
        self.swapped: dict[Place, str] = {}
        self.idle = 0
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        read = {node.id for node in names if isinstance(node.ctx, ast.Load)}
        self._unread = {node.id for node in names} - read
        self._same = {name for each in tree.body if (name := _same(each)) is not None}
        self._loads = Counter(node.id for node in names if isinstance(node.ctx, ast.Load))
        self._stores = Counter(node.id for node in names if isinstance(node.ctx, ast.Store))
        self._visit(tree)

    def _drop(self, node: ast.AST, idle: bool = False) -> None:
        """Leave out a statement or an expression."""
        self.gone.append((start(node), end(node)))
        self.idle += idle

    def _keep(self, whole: ast.AST, kept: Iterable[ast.AST]) -> None:
        """Leave out all of a node but some nodes in it, which stand in the order of the text."""
        at = start(whole)
        for each in kept:
            self.gone.append((at, start(each)))
            at = end(each)
        self.gone.append((at, end(whole)))
        self.idle += 1

    def looked_up(self) -> Callable[[Place], bool]:
        """Return what says whether a token that begins at a place is left out."""
        starts: list[Place] = []
        ends: list[Place] = []
        for first, last in sorted(self.gone):
            if ends and first <= ends[-1]:
                ends[-1] = max(ends[-1], last)
            elif first < last:
                starts.append(first)
                ends.append(last)
        return lambda place: (at := bisect_right(starts, place) - 1) >= 0 and place < ends[at]

    def _visit(self, tree: ast.Module) -> None:
        """Look at every node that is left; what is left out is not looked into."""
        todo: list[tuple[ast.AST, bool]] = [(tree, False)]
        while todo:
            node, local = todo.pop()
            local = (local and not isinstance(node, ast.ClassDef)) or isinstance(node, _FUNCTION)
            if isinstance(node, ast.JoinedStr):
                continue  # is one string, and Pythons before 3.12 do not say where its parts stand
            for part in _BLOCKS:
                if isinstance(body := getattr(node, part, None), list):
                    setattr(node, part, self._block(body, local))
            core = inner(node, self._unread, self._same)
            if core is not None:
                self._keep(node, [core])
                todo.append((core, local))
            else:
                todo += [(each, local) for each in ast.iter_child_nodes(node)]
            if isinstance(node, ast.Starred) and isinstance(node.ctx, ast.Load):
                self._spread(node)

    def _spread(self, node: ast.Starred) -> None:
        match node.value:
            case ast.Tuple(elts=[only]) | ast.List(elts=[only]):
                self._keep(node, [only])

    def _block(self, body: list[ast.stmt], local: bool) -> list[ast.stmt]:
        """Return the statements of a block that do something, those of an `if True` among them."""
        kept: list[ast.stmt] = []
        todo = body[::-1]
        needless = sum(not is_text(each) for each in body) > 1  # is `pass` then
        while todo:
            statement = todo.pop()
            if kept and isinstance(kept[-1], _ENDS):
                self._drop(statement, idle=True)
            elif isinstance(statement, ast.Pass) or is_text(statement) or _stands_alone(statement, EllipsisType):
                self._drop(statement, idle=isinstance(statement, ast.Pass) and needless)
            elif self._is_idle(statement, local):
                self._drop(statement, idle=True)
            elif (always := self._always(statement)) is not None:
                self._keep(statement, always)
                todo += always[::-1]
            elif not (kept and self._continues(kept[-1], statement)):
                kept.append(statement)
                if local and isinstance(statement, ast.AnnAssign):
                    self.gone.append((end(statement.target), end(statement.annotation)))
        return kept

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
                self.gone.append((start(first), start(value)))
                self.swapped[start(first)] = "return"
                self._drop(statement)
                return True
            case ast.Assign(targets=[ast.Name(id=name)]), ast.Assign(targets=[ast.Name()], value=ast.Name(id=used)):
                if name == used and self._loads[name] == self._stores[name] == 1:
                    self._drop(statement)
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


def _called(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def inner(node: ast.AST, unread: Container[str], same: Container[str]) -> ast.expr | None:
    """Return the expression that a node only wraps; None where it does something.

    unread holds names that the text never reads, same those of functions that return their only argument.
    """
    match node:
        case ast.Subscript(value=ast.Tuple() | ast.List() as row, slice=index, ctx=ast.Load()):
            return _picked(row.elts, index)
        case ast.Subscript(
            value=ast.Dict(keys=[ast.Constant(value=key)], values=[value]), slice=ast.Constant(value=at)
        ):
            return value if type(key) is type(at) and key == at else None
        case ast.BinOp(left=left, op=op, right=right):
            return _operand(left, op, right)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return operand
        case ast.UnaryOp(op=op, operand=ast.UnaryOp(op=again, operand=operand)) if type(op) is type(again):
            return operand
        case ast.IfExp(test=test, body=body, orelse=other):
            if (known := truth(test)) is not None:
                return body if known else other
            return body if _name(body) is not None and _name(body) == _name(other) else None
        case ast.BoolOp(op=op, values=values):
            return _only(values, isinstance(op, ast.And))
        case ast.Call(func=function, args=[], keywords=[]):
            return (
                function.body
                if isinstance(function, ast.Lambda) and not (function.args.args or _beyond(function.args))
                else None
            )
        case ast.Call(func=function, args=[argument], keywords=[]) if not isinstance(argument, ast.Starred):
            return argument if _name(function) in same or returns_argument(function) else None
        case ast.NamedExpr(target=target, value=value):
            return value if target.id in unread else None
    return None


def returns_argument(node: ast.AST) -> bool:
    """Return True for a function or a lambda of one argument that only returns it."""
    match node:
        case ast.Lambda(args=arguments, body=ast.Name(id=name)):
            pass
        case ast.FunctionDef(args=arguments, body=[*_, ast.Return(value=ast.Name(id=name))] as body, decorator_list=[]):
            if any(not isinstance(each, ast.Pass) and not is_text(each) for each in body[:-1]):
                return False
        case _:
            return False
    return len(arguments.args) == 1 and arguments.args[0].arg == name and not _beyond(arguments)


def truth(node: ast.AST) -> bool | None:
    """Return whether a condition always holds; None where that depends."""
    turned = False
    while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        node, turned = node.operand, not turned
    match node:
        case ast.Constant(value=value):
            return bool(value) is not turned
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return bool(elements) is not turned if not any(isinstance(each, ast.Starred) for each in elements) else None
        case ast.Compare(left=ast.Constant(value=left), ops=[ast.Eq()], comparators=[ast.Constant(value=right)]):
            return bool(left == right) is not turned
    return None


def does_nothing(node: ast.expr) -> bool:
    """Return True for a value whose computation calls nothing and sets nothing."""
    return all(isinstance(each, _PURE) for each in ast.walk(node))


def is_text(statement: ast.AST) -> bool:
    """Return True for a docstring, and any other string that stands alone."""
    return _stands_alone(statement, str)


def _stands_alone(statement: ast.AST, kind: type) -> bool:
    match statement:
        case ast.Expr(value=ast.Constant(value=value)):
            return isinstance(value, kind)
    return False


def _picked(elements: list[ast.expr], index: ast.expr) -> ast.expr | None:
    match index:
        case ast.Constant(value=int(at)):
            pass
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(at))):
            at = -at
        case _:
            return None
    plain = all(isinstance(each, ast.Name | ast.Constant) for each in elements) or len(elements) == 1
    fits = -len(elements) <= at < len(elements) and not any(isinstance(each, ast.Starred) for each in elements)
    return elements[at] if plain and fits else None


def _operand(left: ast.expr, op: ast.operator, right: ast.expr) -> ast.expr | None:
    match op:
        case ast.Add() | ast.BitOr() | ast.BitXor():
            return right if _is(left, 0) else left if _is(right, 0) else None
        case ast.Mult():
            return right if _is(left, 1) else left if _is(right, 1) else None
        case ast.Sub() | ast.LShift() | ast.RShift():
            return left if _is(right, 0) else None
        case ast.Div() | ast.Pow():
            return left if _is(right, 1) else None
    return None


def _only(values: list[ast.expr], neutral: bool) -> ast.expr | None:
    """Return the one operand of `and` (neutral: True) or `or` that matters."""
    rest = [each for each in values if truth(each) is not neutral]
    if len(rest) > 1 and all(_name(each) is not None and _name(each) == _name(rest[0]) for each in rest):
        return rest[0]
    return rest[0] if len(rest) == 1 and len(values) > 1 else None


def _is(node: ast.expr, number: int) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value == number


def _name(node: ast.AST) -> str | None:
    return node.id if isinstance(node, ast.Name) else None


def _beyond(arguments: ast.arguments) -> bool:
    return bool(arguments.posonlyargs or arguments.kwonlyargs or arguments.vararg or arguments.kwarg)
