"""The loops of a module's text: which one holds the lines that a call ran."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

Expression = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
MOST_TEXT = 60
PURE = ("len", "abs", "min", "max", "sum", "int", "float", "any", "all")  # functions that give the same for the same


@dataclass(frozen=True)
class Span:
    """The lines from low to high that ran in one call; first is where its function begins.

    is_expression says that this is a lambda or a comprehension.
    """

    first: int
    is_expression: bool
    low: int
    high: int


@dataclass(frozen=True)
class Loop:
    """A loop, or a call that waits: the line where it begins, its header as written, and what to do about it."""

    line: int
    header: str
    advice: str


class Loops:
    """The loops of a text; a text that Python does not read has none."""

    def __init__(self, text: str) -> None:
        self._text = text
        try:
            self._nodes = list(ast.walk(ast.parse(text)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self._nodes = []

    def of(self, spans: Iterable[Span]) -> Loop | None:
        """Return the loop of the first call of several that was in one."""
        for each in spans:
            find = self._expression if each.is_expression else self._statement
            if (loop := find(each)) is not None:
                return loop
        return None

    def sleep(self, functions: Iterable[str]) -> Loop | None:
        """Return the first call of time.sleep in functions and methods of these names, with its line."""
        names, own = set(functions), [each for each in self._nodes if isinstance(each, ast.FunctionDef)]
        modules = {alias.asname or alias.name for alias in self._imported(ast.Import) if alias.name == "time"}
        sleeps = {f"{module}.sleep" for module in modules}
        sleeps |= {alias.asname or alias.name for alias in self._imported(ast.ImportFrom) if alias.name == "sleep"}
        for node in (node for each in own if each.name in names for node in ast.walk(each)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in sleeps:
                return Loop(node.lineno, self._said(node), "Take it out: a call's time counts while it waits.")
        return None

    def _imported(self, kind: type[ast.Import | ast.ImportFrom]) -> Iterator[ast.alias]:
        for each in self._nodes:
            if isinstance(each, kind) and getattr(each, "module", "time") == "time":
                yield from each.names

    def _statement(self, ran: Span) -> Loop | None:
        """Return the innermost `while` or `for` of a function that holds the lines that ran.

        None where only its header ran: what it goes over, or its condition, is worked out by something else.
        """
        found = [
            each
            for each in self._nodes
            if isinstance(each, ast.For | ast.While)
            and ran.first <= each.lineno <= ran.low
            and ran.high <= (each.body[-1].end_lineno or 0)
            and _has_begun(each, ran.high)
        ]
        if not found:
            return None
        loop = max(found, key=lambda each: each.lineno)
        # Python reports no line of `while True`, so that a loop which is all of its body may have begun anew.
        while outer := [each for each in found if _is_constant(each) and each.body == [loop]]:
            (loop,) = outer
        if isinstance(loop, ast.For):
            return Loop(loop.lineno, f"for {self._said(loop.target)} in {self._said(loop.iter)}", _goes_over())
        return Loop(loop.lineno, f"while {self._said(loop.test)}", self._until(loop))

    def _expression(self, ran: Span) -> Loop | None:
        """Return the comprehension that holds the lines that ran; None of several."""
        found = [
            each
            for each in self._nodes
            if isinstance(each, Expression)
            and ran.first <= each.lineno <= ran.low
            and ran.high <= (each.end_lineno or 0)
        ]
        if len(found) != 1:
            return None
        (loop,) = found
        return Loop(loop.generators[0].target.lineno, _short(ast.unparse(loop)), _goes_over())

    def _said(self, node: ast.expr) -> str:
        return _short(ast.get_source_segment(self._text, node) or ast.unparse(node))

    def _until(self, loop: ast.While) -> str:
        test, ends = loop.test, any(isinstance(each, ast.Return | ast.Break) for each in ast.walk(loop))
        if isinstance(test, ast.Constant):
            if not ends:
                return "Nothing in it ends it: it needs a `return` or a `break`."
            return "It ends only with a `return` or `break`: check that one is reached in time."
        if names := unchanged(loop):
            said = " or ".join(f"`{name}`" for name in names)
            rest = ", and only a `return` or `break` ends it" if ends else ""
            return f"No line in it changes {said}, so that `{self._said(test)}` stays as it is{rest}."
        return f"Check that `{self._said(test)}` becomes false in time."


def unchanged(loop: ast.While) -> list[str]:
    """Return the names that a loop's condition reads where nothing in the loop can change any of them.

    A name may change where it, or a part of it, is set, where one of its methods is called, and where it is passed on.
    """
    nodes = list(ast.walk(loop.test))
    called = {id(each.func) for each in nodes if isinstance(each, ast.Call)}
    read = [each.id for each in nodes if isinstance(each, ast.Name) and id(each) not in called]
    if not read or any(isinstance(each, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom) for each in nodes):
        return []
    is_pure = all(
        isinstance(each.func, ast.Name) and each.func.id in PURE for each in nodes if isinstance(each, ast.Call)
    )
    touched = {name for each in loop.body for name in _touched(each)}
    return [] if not is_pure or touched & set(read) else list(dict.fromkeys(read))


def _touched(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement may change, itself or in part."""
    for each in ast.walk(statement):
        if isinstance(each, ast.Global | ast.Nonlocal):
            yield from each.names
        elif isinstance(each, ast.Call):
            yield from (name.id for name in ast.walk(each) if isinstance(name, ast.Name))
        elif isinstance(getattr(each, "ctx", None), ast.Store | ast.Del):
            inner: ast.AST = each
            while isinstance(inner, ast.Attribute | ast.Subscript | ast.Starred):
                inner = inner.value
            yield from [inner.id] if isinstance(inner, ast.Name) else []


def _is_constant(loop: ast.For | ast.While) -> bool:
    return isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant)


def _has_begun(loop: ast.For | ast.While, high: int) -> bool:
    """Say whether a line of the body ran, as far as lines tell."""
    head = loop.iter if isinstance(loop, ast.For) else loop.test
    if loop.body[0].lineno > (head.end_lineno or 0):
        return high >= loop.body[0].lineno
    return not any(isinstance(each, ast.Call | Expression) for each in ast.walk(head))


def _goes_over() -> str:
    return "Check what it goes over: that may be endless, grow within the loop, or be longer than needed."


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}…"
