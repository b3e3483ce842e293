"""A module as a syntax tree to look at and to change: its functions, what stands around a node, and what calls what."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from grader.course.mutants import replaced, without_docstrings
from grader.diagnosis.trees import walk

Function = ast.FunctionDef
BODIES = ("body", "orelse", "finalbody")  # the lists of statements of a compound statement
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
ACCESSORS = ("setter", "getter", "deleter")  # of a property
MOST_SHOWN = 70  # characters of an expression in a sentence

Change = tuple[ast.AST, Any]  # a node and what stands in its place: a node, or for a statement a list of statements


@dataclass
class ModuleText:
    """One module, parsed; its docstrings are left out, and its lines keep their numbers.

    changed holds the functions that were changed for good since it was written.
    """

    text: str
    changed: Mapping[str, Function] = field(default_factory=dict)
    _parents: dict[str, dict[int, ast.AST]] = field(default_factory=dict)

    @cached_property
    def tree(self) -> ast.Module:
        """The module, without its docstrings."""
        return without_docstrings(ast.parse(self.text))

    @cached_property
    def functions(self) -> dict[str, Function]:
        """Functions and methods by full name, as Class.method; without a property's setters."""
        found: dict[str, Function] = {}
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef):
                found[node.name] = node
            elif isinstance(node, ast.ClassDef):
                own = (each for each in node.body if isinstance(each, ast.FunctionDef))
                found |= {f"{node.name}.{each.name}": each for each in own if not _is_accessor(each)}
        return found | dict(self.changed)

    def replaced_by(self, function: str) -> list[Function]:
        """Return the earlier definitions of a function or method, which the last one replaces; the nearest first."""
        owner, _, own = function.rpartition(".")
        bodies = [each.body for each in self.tree.body if isinstance(each, ast.ClassDef) and each.name == owner]
        found = [each for body in (bodies if owner else [self.tree.body]) for each in body]
        named = [each for each in found if isinstance(each, ast.FunctionDef) and each.name == own]
        return [each for each in reversed(named[:-1]) if not _is_accessor(named[-1])]

    @cached_property
    def constants(self) -> frozenset[float]:
        """The numbers that are written in the module."""
        values = (each.value for each in walk(self.tree) if isinstance(each, ast.Constant))
        return frozenset(each for each in values if isinstance(each, (int, float)) and not isinstance(each, bool))

    @cached_property
    def names(self) -> frozenset[str]:
        """Every name and attribute in the module."""
        return _used(self.tree)

    @cached_property
    def _calls(self) -> dict[str, frozenset[str]]:
        """By function, the names and attributes by which it may reach others, also through tables of the module."""
        tables: dict[str, frozenset[str]] = {}  # by the name of a module's table or other value: what it is made of
        for node in self.tree.body:
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                made = _used(node.value)
                made = made.union(*(tables.get(each, frozenset()) for each in made))
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    tables[root_name(target)] = tables.get(root_name(target), frozenset()) | made
        calls = {}
        for name, node in self.functions.items():
            used = _used(node)
            calls[name] = used.union(*(tables.get(each, frozenset()) for each in used))
        return calls

    def reached(self, label: str) -> list[str]:
        """Return the functions that a call of one, or of a class, may run; the nearest first."""
        by_name: dict[str, list[str]] = {}
        for name in self.functions:
            owner, _, own = name.rpartition(".")
            by_name.setdefault(own, []).append(name)
            if owner:
                by_name.setdefault(owner, []).append(name)
        waiting = [name for name in self.functions if name == label or name.startswith(f"{label}.")]
        if not waiting and "." in label:  # an attribute of an object: whatever its class does may have set it
            waiting = [name for name in self.functions if name.startswith(f"{label.partition('.')[0]}.")]
        elif "." in label:
            waiting += [name for name in self.functions if name == f"{label.partition('.')[0]}.__init__"]
        found: dict[str, None] = {}
        for name in waiting:
            if name in found:
                continue
            found[name] = None
            for used in sorted(self._calls[name]):
                waiting += by_name.get(used, ())
        return list(found)

    def parents_of(self, function: str) -> dict[int, ast.AST]:
        """Return what holds each node of a function, by the node's id."""
        if function not in self._parents:
            nodes = walk(self.functions[function])
            self._parents[function] = {id(child): node for node in nodes for child in ast.iter_child_nodes(node)}
        return self._parents[function]

    def shown(self, node: ast.AST, most: int = MOST_SHOWN) -> str:
        """Return an expression or the first line of a statement as it is written, shortened."""
        line, start, end = (getattr(node, name, 0) for name in ("lineno", "col_offset", "end_col_offset"))
        text = ""
        if line and start < end and getattr(node, "end_lineno", 0) == line and line <= len(self._lines):
            text = self._lines[line - 1].encode()[start:end].decode("utf-8", "replace")
        text = text or ast.unparse(node).split("\n")[0]
        return text if len(text) <= most else f"{text[: most - 1]}…"

    @cached_property
    def _lines(self) -> list[str]:
        return self.text.split("\n")

    def applied(self, function: str, changes: Sequence[Change]) -> ModuleText:
        """Return the module with changes of one function made for good; nodes that stay are shared."""
        node: Any = self.functions[function]
        for old, new in changes:
            node = substitute(node, old, new)
        made = ModuleText(self.text, {**self.changed, function: node})
        vars(made)["tree"] = self.tree
        return made

    def whole(self, changed: Mapping[str, Function]) -> list[ast.stmt]:
        """Return the module's statements with other definitions of some functions."""
        instead = {**self.changed, **changed}
        body: list[ast.stmt] = []
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef):
                body.append(_defined(node, instead.get(node.name) if self.functions.get(node.name) else None))
            elif isinstance(node, ast.ClassDef):
                own: list[ast.stmt] = [
                    _defined(each, None if _is_accessor(each) else instead.get(f"{node.name}.{each.name}"))
                    if isinstance(each, ast.FunctionDef)
                    else each
                    for each in node.body
                ]
                body.append(replaced(node, body=own))
            else:
                body.append(node)
        return body


def _defined(node: Function, other: Function | None) -> Function:
    """Return a function's other definition under its own decorators."""
    if other is None or other is node:
        return node
    result: Function = replaced(other, decorator_list=node.decorator_list, name=node.name)
    return ast.copy_location(result, node)


def _used(node: ast.AST) -> frozenset[str]:
    """Return the names and attributes in a tree."""
    nodes = (each for each in walk(node) if isinstance(each, (ast.Name, ast.Attribute)))
    return frozenset(getattr(each, "id", getattr(each, "attr", "")) for each in nodes)


@lru_cache(16)  # the answers of a stage that is graded again and again, and the module that is graded
def parsed(text: str) -> ModuleText:
    """Return a module that several look into."""
    return ModuleText(text)


def _is_accessor(node: Function) -> bool:
    return any(isinstance(each, ast.Attribute) and each.attr in ACCESSORS for each in node.decorator_list)


def needs_class(node: Function) -> bool:
    """Say whether a method has to be compiled inside its class: it uses super, private names or other decorators."""
    known = ("property", "staticmethod", "classmethod")
    if not all(isinstance(each, ast.Name) and each.id in known for each in node.decorator_list):
        return True
    names = (getattr(each, "id", getattr(each, "attr", "")) for each in walk(node))
    return any(name in ("super", "__class__") or (name[:2] == "__" and name[-2:] != "__") for name in names if name)


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements and those inside them, in the order of the text."""
    for each in body:
        yield each
        for name in BODIES:
            yield from statements(getattr(each, name, ()))
        for handler in getattr(each, "handlers", ()):
            yield from statements(handler.body)


def heads(statement: ast.stmt) -> list[ast.AST]:
    """Return the parts of a statement, without the statements inside it."""
    found: list[ast.AST] = []
    for name, value in ast.iter_fields(statement):
        if name not in BODIES and name != "handlers":
            found += [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, ast.AST)]
    return found


def own_nodes(statement: ast.stmt) -> list[ast.AST]:
    """Return all nodes of a statement, without those of the statements inside it."""
    return [each for head in heads(statement) for each in walk(head)]


def stored(node: ast.AST) -> set[str]:
    """Return the names that something sets, those of comprehensions apart."""
    inner = {id(part) for each in walk(node) if isinstance(each, ast.comprehension) for part in walk(each.target)}
    names = (each for each in walk(node) if isinstance(each, ast.Name) and id(each) not in inner)
    return {each.id for each in names if isinstance(each.ctx, (ast.Store, ast.Del))}


def loaded(node: ast.AST) -> set[str]:
    """Return the names that something reads."""
    names = (each for each in walk(node) if isinstance(each, ast.Name))
    return {each.id for each in names if isinstance(each.ctx, ast.Load)}


def parameters(node: Function) -> list[str]:
    """Return the names of a function's arguments, without self."""
    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return [each.arg for each in given if each.arg not in ("self", "cls")]


def root_name(node: ast.AST) -> str:
    """Return the name that a chain of attributes and subscripts begins with; empty for another expression."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def called(node: ast.AST) -> str:
    """Return the name by which a call calls: sum of np.sum(x) and of x.sum(); empty for what is no call."""
    function = node.func if isinstance(node, ast.Call) else None
    return str(getattr(function, "attr", getattr(function, "id", "")))


def substitute(node: Any, old: ast.AST, new: Any) -> Any:
    """Return a tree with something else in the place of one node, or several statements in that of one statement."""
    if node is old:
        return new
    fields: dict[str, Any] = {}
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            made: list[Any] = []
            for each in value:
                other = substitute(each, old, new) if isinstance(each, ast.AST) else each
                made += other if isinstance(other, list) else [other]
            if len(made) != len(value) or any(a is not b for a, b in zip(made, value, strict=True)):
                fields[name] = made or [ast.Pass()]
        elif isinstance(value, ast.AST):
            other = substitute(value, old, new)
            if other is not value:
                fields[name] = other
    return replaced(node, **fields) if fields else node
