"""Which statements a wrong answer can come from, and how near: the lines that make it, those that make what they use.

A slice of the text, backward from the answer, without regard to the order of its lines.
Source: Weiser 1981, program slicing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from grader.diagnosis.trees import walk

SUSPECT = -1  # how far a statement is in which a value first goes wrong
NEXT = "@__next__"  # what an object is asked that a generator made
FAR = 99  # how far a statement is from an answer that it takes no part in
PARTS = ("body", "orelse", "finalbody", "handlers")  # of a compound statement, beside its head


def ends_of(loop: ast.For | ast.While) -> list[ast.stmt]:
    """Return the conditions on which a loop, or one of its rounds, ends early: all of its lines depend on them."""
    return [
        each
        for each in statements_of(loop.body)
        if isinstance(each, ast.If) and isinstance(each.body[-1], (ast.Break, ast.Continue, ast.Return))
    ]


@dataclass(frozen=True)
class Line:
    """A statement, or the head of a compound one: what it sets, what it uses for that, and what it calls."""

    statement: ast.stmt
    function: str
    sets: Mapping[str, frozenset[str]]  # token set: the tokens that are used for it
    uses: frozenset[str]
    heads: tuple[ast.stmt, ...]  # the statements around it
    gives: Mapping[str, frozenset[str]]  # argument of another function: the tokens that are given on for it


@dataclass
class Relevance:
    """How far each statement of some functions is from an answer."""

    definitions: Mapping[str, ast.FunctionDef]
    lines: list[Line] = field(default_factory=list)
    _setting: dict[str, list[Line]] = field(default_factory=dict)
    _provider: dict[str, list[Line]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, node in self.definitions.items():
            self._read(name, node.body, ())
        for line in self.lines:
            for token in line.sets:
                self._setting.setdefault(token, []).append(line)
            for token in line.gives:
                self._provider.setdefault(token, []).append(line)

    def depths(self, label: str, parts: Iterable[int | str]) -> dict[int, int]:
        """Return by the id of each statement how far it is from what was asked of a module; parts are what is wrong.

        label is a function, a class or an attribute by its full name. A statement that takes no part is not in it. What
        an attribute is made of was given to its object by others, which nobody asks by name.
        """
        found: dict[int, int] = {}
        waiting = self._asked(label, list(parts))
        depth = 0
        seen: set[str] = set()
        is_attribute = f"@{label.rpartition('.')[2]}" in waiting
        while waiting:
            seen |= waiting
            following: set[str] = set()
            for token in waiting:
                for line in self._setting.get(token, []):
                    for each in (line.statement, *line.heads):
                        found.setdefault(id(each), depth)
                    following |= line.sets[token]
                for line in self._provider.get(token, []) if is_attribute else ():
                    for each in (line.statement, *line.heads):
                        found.setdefault(id(each), depth)
                    following |= line.gives[token]
            waiting = following - seen
            depth += 1
        return found

    def _asked(self, label: str, parts: list[int | str]) -> set[str]:
        """Return the tokens that an answer is known by."""
        keys = {f"#{each}" for each in parts if isinstance(each, str)}
        if keys and keys & set(self._setting):
            return keys
        if label in self.definitions or f"{label}.__init__" in self.definitions:
            own = {f"{label}[{each}]" for each in parts if isinstance(each, int)}
            if own and own <= set(self._setting):
                return own
            made = {token for line in self.lines if line.function == f"{label}.__init__" for token in line.sets}
            return {f"{label}()"} | made
        return {f"@{label.rpartition('.')[2]}"}

    def _read(self, function: str, body: list[ast.stmt], heads: tuple[ast.stmt, ...]) -> None:
        for statement in body:
            if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                self._read(function, statement.body, heads)
                continue
            around = (*heads, statement) if hasattr(statement, "body") else heads
            around = (*around, *ends_of(statement)) if isinstance(statement, (ast.For, ast.While)) else around
            self.lines.append(self._line(function, statement, heads))
            for name in PARTS:
                for each in getattr(statement, name, None) or ():
                    self._read(function, [each] if isinstance(each, ast.stmt) else each.body, around)

    def _line(self, function: str, statement: ast.stmt, heads: tuple[ast.stmt, ...]) -> Line:
        uses = frozenset(self._used(function, head_of(statement)))
        uses |= {token for each in heads for token in self._used(function, head_of(each))}
        sets: dict[str, frozenset[str]] = {}
        if isinstance(getattr(statement, "value", None), (ast.Yield, ast.YieldFrom)):
            sets[f"{function}()"] = sets[NEXT] = uses
        if isinstance(statement, ast.Return):
            sets[f"{function}()"] = uses
            owner, _, name = function.rpartition(".")
            if owner:
                sets[f".{name}()"] = sets[f"@{name}"] = uses
            for part, each in _parts(statement.value):
                token = f"{function}[{part}]" if isinstance(part, int) else f"#{part}"
                sets[token] = frozenset(self._used(function, [each]))
        for token in self._set(function, statement):
            sets[token] = uses
        value = getattr(statement, "value", None)
        for part, each in _parts(value) if isinstance(value, ast.Dict) else ():
            sets[f"#{part}"] = frozenset(self._used(function, [each]))
        return Line(statement, function, sets, uses, heads, dict(self._given(function, head_of(statement))))

    def _given(self, function: str, nodes: Iterable[ast.AST]) -> Iterator[tuple[str, frozenset[str]]]:
        """Yield the arguments of other functions that expressions give a value, with what they use for it."""
        for call in (each for node in nodes for each in walk(node) if isinstance(each, ast.Call)):
            name = getattr(call.func, "id", "")
            own = name if name in self.definitions else f"{name}.__init__"
            known = self.definitions[own].args.args if own in self.definitions else []
            names = [each.arg for each in known if each.arg != "self"]
            pairs = [*zip(names, call.args, strict=False), *((each.arg, each.value) for each in call.keywords)]
            for argument, value in pairs if names else ():
                yield f"{own}:{argument}", frozenset(self._used(function, [value]))

    def _used(self, function: str, nodes: Iterable[ast.AST]) -> Iterator[str]:
        """Yield what expressions use: names, attributes, keys, and what the functions return that they call."""
        for node in nodes:
            for each in walk(node):
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
                    yield f"{function}:{each.id}"
                elif isinstance(each, ast.Attribute):
                    yield f"@{each.attr}"
                elif isinstance(each, ast.Subscript) and isinstance(key := _key(each), str):
                    yield f"#{key}"
                elif isinstance(each, ast.Call):
                    name = getattr(each.func, "id", None)
                    yield f"{name}()" if name else f".{getattr(each.func, 'attr', '')}()"

    def _set(self, function: str, statement: ast.stmt) -> Iterator[str]:
        """Yield what a statement sets: names, attributes, entries, and what a call that stands alone may change."""
        for head in head_of(statement):
            for each in walk(head):
                if isinstance(getattr(each, "ctx", None), ast.Store):
                    yield from self._tokens(function, each)
        if isinstance(statement, ast.AugAssign):
            yield from self._tokens(function, statement.target)
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            call = statement.value
            for changed in (getattr(call.func, "value", None), *call.args[:1]):
                yield from self._tokens(function, changed)

    def _tokens(self, function: str, node: ast.AST | None) -> Iterator[str]:
        while isinstance(node, (ast.Subscript, ast.Starred)):
            if isinstance(node, ast.Subscript) and isinstance(key := _key(node), str):
                yield f"#{key}"
                return
            node = node.value
        if isinstance(node, ast.Attribute):
            yield f"@{node.attr}"
        elif isinstance(node, ast.Name):
            yield f"{function}:{node.id}"


def _key(node: ast.Subscript) -> object:
    return getattr(node.slice, "value", None) if isinstance(node.slice, ast.Constant) else None


def _parts(value: ast.expr | None) -> Iterator[tuple[int | str, ast.expr]]:
    """Yield the entries of what is returned, by place or by key."""
    if isinstance(value, ast.Tuple):
        yield from enumerate(value.elts)
    elif isinstance(value, ast.Dict):
        for key, each in zip(value.keys, value.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, each


def statements_of(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements, and those that stand in them."""
    for statement in body:
        yield statement
        for name in PARTS:
            for each in getattr(statement, name, None) or ():
                yield from statements_of([each] if isinstance(each, ast.stmt) else each.body)


def head_of(statement: ast.stmt) -> list[ast.AST]:
    """Return the expressions of a statement, without what stands in its body."""
    nodes: list[ast.AST] = []
    for name, value in ast.iter_fields(statement):
        if name not in PARTS:
            nodes += [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, ast.AST)]
    return nodes
