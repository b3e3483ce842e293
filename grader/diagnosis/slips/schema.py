"""All changes of one function in one compiled function: a number chooses which of them is in force.

Compiling a function once for each change takes half a second; one that holds all of them, behind a switch, a twentieth.
Source: Untch, Offutt and Harrold 1993, mutation analysis using mutant schemata.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from grader.course.changes import replaced
from grader.diagnosis.slips.changes import Scope, natural_changes
from grader.diagnosis.slips.statements import (
    Kind,
    argument_changes,
    natural_orders,
    natural_statements,
    repaired_statements,
)
from grader.diagnosis.trees import walk

SWITCH = "_slips"  # the name, among those of the module, of the numbers of the changes that are in force
UNCHANGED = (
    "decorator_list",
    "annotation",
    "returns",
    "bases",
    "ctx",
    "op",
    "ops",
    "targets",
    "target",
    "optional_vars",
)
FIXED = (ast.Raise, ast.JoinedStr, ast.Import, ast.ImportFrom, ast.Assert)
WITHIN = (ast.Slice, ast.keyword, ast.Starred, ast.comprehension)  # cannot stand behind a switch: what holds them does


@dataclass(frozen=True)
class Change:
    """One change of a function: what was and what stands there now, what holds it, and the statement around both."""

    number: int
    function: str
    old: ast.AST
    new: ast.AST | list[ast.stmt]
    holder: ast.AST
    statement: ast.stmt
    kind: Kind = ""

    def runs(self, lines: set[int]) -> bool:
        """Say whether the statement that it changes is among the lines that ran; of a compound one, its head."""
        if isinstance(self.statement, ast.FunctionDef):
            return True
        body = getattr(self.statement, "body", None)
        last = body[0].lineno - 1 if body else self.statement.end_lineno or self.statement.lineno
        return not lines.isdisjoint(range(self.statement.lineno, max(last, self.statement.lineno) + 1))

    @property
    def manner(self) -> tuple[object, ...]:
        """What changes of one manner have in common: two factors left out, two results with another sign."""
        old, new = self.old, self.new
        sides = [name for name in ("left", "right", "operand", "value") if getattr(old, name, None) is new]
        inner = [name for name in ("left", "right", "operand") if getattr(new, name, None) is old]
        keys = [type(getattr(each, "op", None)).__name__ for each in ((old,) if sides else (old, new))]
        called = getattr(getattr(old, "func", None), "attr", getattr(getattr(old, "func", None), "id", ""))
        value = ast.unparse(new) if isinstance(old, ast.Constant) and isinstance(new, ast.AST) else ""
        if isinstance(old, ast.Subscript) and isinstance(new, ast.Subscript) and new.value is old.value:
            value = ast.unparse(new.slice)  # hs[0] and cs[0], hs[:, -1] and cs[:, -1]
        return type(old), None if sides else type(new), self.kind, *sides, "in", *inner, *keys, called, value


@dataclass
class Schema:
    """Builds the definition that holds every change of a function."""

    function: str
    scope: Scope
    first: int = 1
    changes: list[Change] = field(default_factory=list)
    repairs: Callable[[ast.AST, ast.AST, Scope], Iterator[ast.AST]] | None = None  # in a learner's own function
    statements: bool = True  # whether statements are changed, too
    inserted: Callable[[ast.AST], Iterator[tuple[Kind, str, int, list[ast.stmt]]]] = lambda holder: iter(())
    arguments: Callable[[ast.FunctionDef], Iterator[tuple[Kind, ast.Assign]]] = lambda definition: iter(())
    wanted: Callable[[ast.stmt], bool] = lambda statement: True  # which of them are changed
    kind: Kind = ""  # of the changes of expressions
    _own: set[str] = field(default_factory=set)  # the names that the function sets, or is given

    def definition(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Return the definition with a switch wherever something may be changed."""
        self._own = _stored(node) | {each.arg for each in walk(node) if isinstance(each, ast.arg)}
        arguments = argument_changes(node, self.scope) if self.repairs is None else self.arguments(node)
        before = [each for kind, change in arguments for each in self._before(node, kind, change)]
        result: ast.FunctionDef = replaced(node, body=[*before, *self._body(node)])
        return result

    def _before(self, node: ast.FunctionDef, kind: Kind, change: ast.Assign) -> list[ast.stmt]:
        number = self._add(change.targets[0], change, node, node, kind)
        return [ast.If(_chosen(number), [change], [])]

    def _body(self, holder: ast.AST, name: str = "body") -> list[ast.stmt]:
        """Return the statements of a holder's list, each behind its switches, then those of the list's order."""
        body: list[ast.stmt] = getattr(holder, name)
        plain = [self._statement(statement, holder) for statement in body]
        added: list[list[ast.stmt]] = [[] for _ in range(len(body) + 1)]  # that may stand before each, and at the end
        orders = (*(natural_orders(holder) if self.statements else ()), *self.inserted(holder))
        for kind, where, place, changed in orders:
            statement = body[place] if where == name else None
            if statement is None or not (kind == "missing" or self.wanted(statement)):
                continue
            number = self._add(statement, changed, holder, statement, kind)
            first, last, instead = _differing(body, changed)
            if first == last:
                added[first].append(ast.If(_chosen(number), instead, []))
            for each in range(first, last):  # what stands there instead comes in the place of the first
                new: list[ast.stmt] = instead if each == first and instead else [ast.Pass()]
                plain[each] = [ast.If(_chosen(number), new, plain[each])]
        return [each for here, own in zip(added, [*plain, []], strict=True) for each in (*here, *own)]

    def _statement(self, node: ast.stmt, holder: ast.AST) -> list[ast.stmt]:
        if isinstance(node, FIXED):
            return [node]
        fields: dict[str, Any] = {}
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            return [replaced(node, body=self._body(node))] if isinstance(node, ast.FunctionDef) else [node]
        for name, value in ast.iter_fields(node):
            if name in ("body", "orelse", "finalbody") and value:
                fields[name] = self._body(node, name)
            elif name not in UNCHANGED and isinstance(value, ast.expr) and self.wanted(node):
                fields[name] = self._expression(value, node, node)
        result: list[ast.stmt] = [replaced(node, **fields)]
        other = natural_statements if self.repairs is None else repaired_statements
        for kind, change in other(node) if self.statements and self.wanted(node) else ():
            if _stored(change) - self._own:
                continue  # what a line of a function sets is its own in all of its lines, also where it is no more set
            number = self._add(node, change, holder, node, kind)
            result = [ast.If(_chosen(number), [change], result)]
        return result

    def _expression(self, node: ast.expr, holder: ast.AST, statement: ast.stmt) -> ast.expr:
        """Return an expression with switches below it, behind those of its own."""
        if isinstance(node, FIXED) or isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
            return node
        result: ast.expr = self._children(node, statement)
        own = [(change, change) for change in self._natural(node, holder)]
        for change, whole in [*own, *self._lifted(node)]:
            origin = (node, holder) if change is whole else change[:2]
            number = self._add(origin[0], whole if change is whole else change[2], origin[1], statement, self.kind)
            result = ast.IfExp(_chosen(number), whole, result)
        return result

    def _children(self, node: Any, statement: ast.stmt) -> Any:
        fields: dict[str, Any] = {}
        for name, value in ast.iter_fields(node):
            if name in UNCHANGED:
                continue
            if isinstance(value, list):
                items = [self._child(item, node, statement) for item in value]
                if any(a is not b for a, b in zip(items, value, strict=True)):
                    fields[name] = items
            elif (other := self._child(value, node, statement)) is not value:
                fields[name] = other
        return replaced(node, **fields) if fields else node

    def _child(self, value: Any, holder: ast.AST, statement: ast.stmt) -> Any:
        if isinstance(value, WITHIN) or (isinstance(value, ast.Tuple) and _holds_slices(value)):
            return self._children(value, statement)
        if isinstance(value, ast.expr):
            return self._expression(value, holder, statement)
        return value

    def _lifted(self, node: ast.AST) -> Iterator[tuple[Any, Any]]:
        """Yield the changes of parts that cannot stand behind a switch: (old, holder, new), and the expression."""
        for name, value in ast.iter_fields(node):
            items = value if isinstance(value, list) else [value]
            for place, item in enumerate(items):
                if not (isinstance(item, WITHIN) or (isinstance(item, ast.Tuple) and _holds_slices(item))):
                    continue
                own = (((item, node, new), new) for new in self._natural(item, node))
                for origin, changed in [*own, *self._lifted(item)]:
                    other = [*items[:place], changed, *items[place + 1 :]] if isinstance(value, list) else changed
                    yield origin, replaced(node, **{name: other})

    def _natural(self, node: ast.AST, holder: ast.AST) -> Iterator[ast.AST]:
        return (self.repairs or natural_changes)(node, holder, self.scope)

    def _add(self, old: ast.AST, new: Any, holder: ast.AST, statement: ast.stmt, kind: Kind = "") -> int:
        number = self.first + len(self.changes)
        self.changes.append(Change(number, self.function, old, new, holder, statement, kind))
        return number


def _stored(node: ast.AST) -> set[str]:
    """Return the names that something sets."""
    return {each.id for each in walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}


def _holds_slices(node: ast.Tuple) -> bool:
    return any(isinstance(item, (ast.Slice, ast.Starred)) for item in node.elts)


def _differing(body: list[ast.stmt], changed: list[ast.stmt]) -> tuple[int, int, list[ast.stmt]]:
    """Return the first and the last place in which two lists of statements differ, and what one has there instead."""
    first, last, end = 0, len(body), len(changed)
    while first < min(last, end) and body[first] is changed[first]:
        first += 1
    while min(last, end) > first and body[last - 1] is changed[end - 1]:
        last, end = last - 1, end - 1
    return first, last, changed[first:end]


def _chosen(number: int) -> ast.expr:
    return ast.Compare(ast.Constant(number), [ast.In()], [ast.Name(SWITCH, ast.Load())])
