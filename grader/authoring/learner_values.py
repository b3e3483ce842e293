"""Lints of a stage's tests: which draw their inputs anew, and which calculate with values not yet known to be plain.

An object of the learner's is refused there in any case, with an error that names it. The lint
finds tests whose failure would mention an operator instead of the value, and members that are not listed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from grader.authoring.claims import Shortfall, test_files, test_place
from grader.course.answers import hidden_folder
from grader.course.stage import Contract, Stage

Function = ast.FunctionDef | ast.AsyncFunctionDef
GENERATOR = "rng"


def fresh_tests(stage: Stage) -> frozenset[str]:
    """Return the hidden tests that use `rng`, themselves or through a fixture of their file, named as outcomes are."""
    return frozenset(
        f"{file.name}::{name}"
        for file in sorted(hidden_folder(stage).glob("test_*.py"))
        for name in _fresh_in(ast.parse(file.read_text(encoding="utf-8")))
    )


def _fresh_in(module: ast.Module) -> Iterator[str]:
    """Yield the tests of one file that draw, as Class::function."""
    fixtures = {name: node for name, node in _functions(module) if _is_fixture(node)}
    for name, node in _functions(module):
        if name.rpartition("::")[2].startswith("test") and _draws(node, fixtures):
            yield name


def _functions(node: ast.Module | ast.ClassDef, before: str = "") -> Iterator[tuple[str, Function]]:
    for each in node.body:
        if isinstance(each, ast.ClassDef):
            yield from _functions(each, f"{before}{each.name}::")
        elif isinstance(each, Function):
            yield f"{before}{each.name}", each


def _is_fixture(node: Function) -> bool:
    return any("fixture" in ast.unparse(decorator) for decorator in node.decorator_list)


def _draws(node: Function, fixtures: Mapping[str, Function]) -> bool:
    """Say whether a function is given `rng` and uses it, or is given what such a fixture made; none needs itself."""
    names = {each.arg for each in (*node.args.args, *node.args.kwonlyargs)}
    used = {each.id for statement in node.body for each in ast.walk(statement) if isinstance(each, ast.Name)}
    others = {name: fixture for name, fixture in fixtures.items() if fixture is not node}
    return GENERATOR in names & used or any(_draws(others[name], others) for name in names & set(others))


LEARNER = "learner"
Kind = Literal["", "value", "object", "dict", "plain"]  # "": not the learner's; "object": its class lists operators
NUMBERS = frozenset(
    (
        "sum", "float", "int", "complex", "abs", "max", "min", "round", "bool", "any", "all", "divmod", "pow",
    )
)  # fmt: skip
SHOWN = ("assert", "check", "isinstance", "plain_array")  # of functions that see to it that a value is plain
CONTAINERS: tuple[Any, ...] = (list, dict, tuple, set, str, int, float, complex)
OPERATORS = frozenset(f"__{name}__" for name in ("add", "sub", "mul", "truediv", "matmul", "pow", "neg", "abs"))


@dataclass(frozen=True)
class ValueUse:
    """A use of a learner's value: the line, the value's expression, what uses it, and how to mend that."""

    line: int
    value: str
    by: str

    @property
    def message(self) -> str:
        """What is wrong, for whoever wrote the test."""
        if self.by.startswith("."):
            return f"{self.value} is asked for {self.by[1:]!r}, which the stage does not list among its members"
        return f"{self.value} is used by {self.by} before the test has seen that it is a plain value"

    @property
    def fix(self) -> str:
        """What to do about it."""
        if self.by.startswith("."):
            return "list it in [members] of stage.toml, or see with plain_array() that the value is an array"
        return "give it to an assertion or to plain_array() first, or say in [values] of stage.toml what it is"


def unplain_uses(stage: Stage) -> Iterator[Shortfall]:
    """Yield the uses of a stage's tests as what it lacks."""
    contract = stage.whole_contract
    for file in test_files(stage):
        for use in uses(ast.parse(file.read_text(encoding="utf-8")), contract):
            yield Shortfall(stage.id, test_place(stage, file, use.line), use.message, use.fix)


def uses(tree: ast.Module, contract: Contract) -> list[ValueUse]:
    """Return the uses within the functions of one file that take `learner`, in the order of their lines."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and _takes_learner(node)]
    helpers: dict[str, Kind] = {}
    found: set[ValueUse] = set()
    for node in (*functions, *functions):  # a helper may stand behind the test that calls it
        reader = _Reader(contract, helpers)
        reader.block(node.body)
        helpers[node.name] = reader.returned
        found |= reader.found
    return sorted(found, key=lambda use: (use.line, use.value, use.by))


def _takes_learner(node: ast.FunctionDef) -> bool:
    return any(each.arg == LEARNER for each in node.args.args)


class _Values:
    """What is known, at one place of a test, of the expressions that stand there."""

    def __init__(self, contract: Contract, helpers: Mapping[str, Kind]) -> None:
        self.members = frozenset[str]().union(*contract.members.values())
        self.names: dict[str, Kind] = {}
        self.shown: set[str] = set()  # expressions of values that are known to be plain
        self._contract = contract
        self._helpers = helpers

    def kind(self, node: ast.expr) -> Kind:
        """Return what an expression gives."""
        if ast.unparse(node) in self.shown:
            return "plain"
        match node:
            case ast.Name(id=name):
                return self.names.get(name, "")
            case ast.Call():
                return self._called(node)
            case ast.Attribute(value=ast.Name(id="learner")):
                return ""
            case ast.Attribute(value=value, attr=attr):
                return self._member(self.kind(value), attr)
            case ast.Subscript(value=value):
                held = self.kind(value)
                return "plain" if held == "dict" else "value" if held == "object" else held
            case ast.GeneratorExp(elt=value) | ast.ListComp(elt=value) | ast.Starred(value=value):
                return self.kind(value)
            case ast.BinOp(left=left, right=right):
                return "object" if "object" in (self.kind(left), self.kind(right)) else ""
            case ast.UnaryOp(operand=operand):
                return "object" if self.kind(operand) == "object" else ""
        return ""

    def _called(self, node: ast.Call) -> Kind:
        match node.func:
            case ast.Attribute(value=ast.Name(id="learner"), attr=name):
                if OPERATORS & self._contract.members.get(name, frozenset()):
                    return "object"
                through = any(self.kind(each) == "object" for each in node.args)
                return self._said(name) or ("object" if through else "value")
            case ast.Attribute(value=value, attr=attr):
                return self._member(self.kind(value), attr)
            case ast.Name(id="getattr") if node.args:
                return self._member(self.kind(node.args[0]), "")
            case ast.Name(id=name):
                passes = any(isinstance(each, ast.Name) and each.id == LEARNER for each in node.args)
                return self._helpers.get(name, "") if passes else self.names.get(name, "")
        return ""

    def _member(self, owner: Kind, name: str) -> Kind:
        """Return what a member of something is, or what it gives when it is called."""
        if owner in ("value", "object"):
            return self._said(name) or "value"
        return "plain" if owner else ""

    def _said(self, name: str) -> Kind:
        said = self._contract.values.get(name)
        return "" if said is None else "dict" if said == "dict of arrays" else "plain"


class _Reader:
    """Reads one function from its first line to its last; a branch or a loop is read once."""

    def __init__(self, contract: Contract, helpers: Mapping[str, Kind]) -> None:
        self.found: set[ValueUse] = set()
        self.returned: Kind = ""
        self._values = _Values(contract, helpers)

    def block(self, statements: Iterable[ast.stmt]) -> None:
        """Read statements in their order."""
        for each in statements:
            self._statement(each)

    def _statement(self, node: ast.stmt) -> None:
        for child in ast.iter_child_nodes(node):
            self._expressions(child)
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._bind(target, value)
            case ast.AugAssign(target=target, value=value):
                self._uses("an operator", target, value)
            case ast.For(target=target, iter=iterated):
                self._bind(target, iterated)
            case ast.If(test=test) | ast.Assert(test=test) | ast.While(test=test):
                self._condition(test)
            case ast.Return(value=ast.expr() as value):
                self.returned = self._values.kind(value)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self._see(child)
        for field in ("body", "orelse", "finalbody"):
            self.block(getattr(node, field, ()))

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        """Note what a name holds from here on."""
        parts = target.elts if isinstance(target, ast.Tuple) else [target]
        several = isinstance(value, ast.Tuple) and len(value.elts) == len(parts) > 1
        for place, part in enumerate(parts):
            held = value.elts[place] if several and isinstance(value, ast.Tuple) else value
            name = part.value if isinstance(part, ast.Starred) else part
            if isinstance(name, ast.Tuple):
                self._bind(name, held)
            elif isinstance(name, ast.Name):
                kind = self._values.kind(held)
                self._values.shown = {each for each in self._values.shown if not _mentions(each, name.id)}
                self._values.names[name.id] = kind

    def _see(self, node: ast.expr) -> None:
        """Note which values a statement shows to be plain."""
        for call in (each for each in ast.walk(node) if isinstance(each, ast.Call)):
            if ast.unparse(call.func).rpartition(".")[2].lstrip("_").startswith(SHOWN):
                self._values.shown.update(map(ast.unparse, call.args))

    def _condition(self, node: ast.expr) -> None:
        for part in node.values if isinstance(node, ast.BoolOp) else [node]:
            self._uses("a condition", part.operand if isinstance(part, ast.UnaryOp) else part)

    def _expressions(self, node: ast.AST) -> None:
        """Note each use within an expression."""
        for each in ast.walk(node) if isinstance(node, ast.expr | ast.withitem) else ():
            for generator in getattr(each, "generators", ()):
                self._bind(generator.target, generator.iter)
        for each in ast.walk(node) if isinstance(node, ast.expr | ast.withitem) else ():
            self._expression(each)

    def _expression(self, node: ast.AST) -> None:
        match node:
            case ast.BinOp(left=left, right=right):
                self._uses("an operator", left, right)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert(), operand=operand):
                self._uses("an operator", operand)
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                for op, one, other in zip(ops, [left, *comparators], comparators, strict=False):
                    if isinstance(op, ast.In | ast.NotIn):
                        self._uses("in", other)
                    elif not isinstance(op, ast.Is | ast.IsNot):
                        self._uses("a comparison", one, other)
            case ast.Call(func=func, args=args):
                name = ast.unparse(func)
                if name in NUMBERS or (name.startswith(("np.", "math.")) and not name.startswith("np.random.")):
                    self._uses(name, *args)
            case ast.Attribute(value=value, attr=attr):
                if attr not in self._values.members and (hasattr(np.ndarray, attr) or not _is_common(attr)):
                    self._uses(f".{attr}", value)

    def _uses(self, by: str, *nodes: ast.expr) -> None:
        for node in nodes:
            kind = self._values.kind(node)
            if kind == "value" or (kind == "object" and by != "an operator"):
                self.found.add(ValueUse(node.lineno, ast.unparse(node), by))


def _is_common(name: str) -> bool:
    """Say whether a plain container or number has such a method."""
    return any(hasattr(each, name) for each in CONTAINERS)


def _mentions(text: str, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(ast.parse(text)))
