"""Which forbidden names and operators a module uses, under whatever name, and which ways around them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from grader.course.stage import OPERATORS, Forbidden
from grader.submission.source.forbidden import roundabout
from grader.submission.source.forbidden.meanings import Meanings
from grader.submission.source.forbidden.places import Layout, Place
from grader.submission.source.forbidden.roundabout import Way, way_of
from grader.submission.source.imports import imported, root

# Functions of numpy that are methods of arrays too: forbidding numpy.dot forbids x.dot().
ARRAY_METHODS = frozenset({
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "choose", "clip", "compress", "conj",
    "conjugate", "copy", "cumprod", "cumsum", "diagonal", "dot", "max", "mean", "min", "nonzero", "partition", "prod",
    "put", "ravel", "repeat", "reshape", "resize", "round", "searchsorted", "sort", "squeeze", "std", "sum", "swapaxes",
    "take", "trace", "transpose", "var",
})  # fmt: skip
# The limits of a dtype are no methods of an array: np.finfo(float).max.
_LIMITS = frozenset({"numpy.finfo", "numpy.iinfo"})
_READ = frozenset({
    ast.BinOp, ast.AugAssign, ast.Import, ast.ImportFrom, ast.Assign, ast.Call, ast.Name, ast.Attribute, ast.MatchClass,
})  # fmt: skip
_LOAD = "numpy.load"


_Found = tuple[str, Way | None]


@dataclass(frozen=True, order=True)
class Use:
    """One place where something forbidden is used, or, where unseen says so, where it may be."""

    line: int
    column: int
    name: str
    unseen: str = ""
    instead: str = ""


def uses(layout: Layout, forbidden: Forbidden) -> Iterator[tuple[Use, Place]]:
    """Every use in a module, with its place; the same one may come more than once."""
    yield from _Search(layout, forbidden).run()


class _Search:
    """One way along the nodes of a module; parents come before their parts."""

    def __init__(self, layout: Layout, forbidden: Forbidden) -> None:
        self._layout = layout
        self._names = roundabout.Names(forbidden)
        self._meanings = Meanings(layout, self._names.followed)
        self._operators = {OPERATORS[symbol]: symbol for symbol in forbidden.operators}
        self._methods = ARRAY_METHODS & {name.removeprefix("numpy.") for name in forbidden.names}
        self._within: set[ast.AST] = set()  # parts of a dotted name that are not the whole
        self._answered: set[ast.AST] = set()  # parts that may stand there, as the expression around them has shown
        self._called: set[ast.AST] = set()
        self._loads: set[ast.AST] = set()  # np.load where it can read arrays alone

    def run(self) -> Iterator[tuple[Use, Place]]:
        for node, place in self._layout:
            if type(node) not in _READ:
                continue
            at = node.cls if isinstance(node, ast.MatchClass) else node
            for name, way in self._found(node, place):
                if isinstance(at, ast.expr | ast.stmt):
                    yield Use(at.lineno, at.col_offset, name, *((way.unseen, way.instead) if way else ())), place

    def _found(self, node: ast.AST, place: Place) -> Iterator[_Found]:
        match node:
            case ast.BinOp(op=op) if type(op) in self._operators:
                yield self._operators[type(op)], None
            case ast.AugAssign(op=op) if type(op) in self._operators:
                yield f"{self._operators[type(op)]}=", None
            case ast.Import() | ast.ImportFrom():
                yield from self._imported(node, place)
            case ast.Assign(value=value) if place.kind != "class" and self._meanings.follows(node):
                self._answered.add(value)
            case ast.Call():
                yield from self._call(node, place)
            case ast.Name(id=name, ctx=ast.Load()):
                if name in roundabout.BUILTINS and node not in self._answered and not place.binds(name, node.lineno):
                    yield name, roundabout.BUILTINS[name]
                elif name in self._names.builtins and not place.binds(name, node.lineno):
                    yield name, None
                else:
                    yield from self._dotted(node)
            case ast.Attribute():
                self._within.add(node.value)
                yield from self._attribute(node, place)
            case ast.MatchClass(kwd_attrs=names):
                yield from ((f".{name}", roundabout.PATTERN) for name in names if self._is_refused(name))

    def _imported(self, node: ast.Import | ast.ImportFrom, place: Place) -> Iterator[_Found]:
        for path in imported(node):
            if self._names.forbids(path):
                yield path, None
            elif place.kind == "class" and self._names.holds(path):
                yield path, roundabout.MODULE

    def _dotted(self, node: ast.expr) -> Iterator[_Found]:
        """What a whole dotted name stands for: the first of its meanings that is forbidden, else a way around."""
        if node in self._within:
            return
        paths = self._meanings.paths(node)
        if (path := next(filter(self._names.forbids, paths), None)) is not None:
            yield path, None
            return
        if (crowded := self._meanings.crowded(node)) is not None:
            yield crowded, roundabout.CROWDED
            return
        if not self._meanings.is_imported(node):
            paths = paths[1:]  # an unknown name for itself; the others are what `from module import *` may have given
        for path in paths:
            way = None if node in self._answered and path in roundabout.GETTERS else way_of(path)
            way = None if node in self._loads and path == _LOAD else way
            if way is None and node not in self._answered and self._names.holds(path):
                way = roundabout.MODULE
            if way is not None:
                yield path, way
                return

    def _call(self, node: ast.Call, place: Place) -> Iterator[_Found]:
        function, given = node.func, node.args
        self._called.add(function)
        if (
            isinstance(function, ast.Name)
            and function.id in ("getattr", "hasattr", "vars")
            and not place.binds(function.id, function.lineno)
        ):
            self._answered.update(given[:1])
            if function.id == "getattr":
                self._answered.add(function)
                yield from self._getattr(node, place)
            elif function.id == "vars" and len(given) == 1 and self._meanings.is_own(given[0], place):
                self._answered.add(function)
        elif _LOAD in self._meanings.paths(function) and _reads_arrays(node):
            self._loads.add(function)
        elif getters := roundabout.GETTERS.intersection(self._meanings.paths(function)):
            self._answered.add(function)
            yield from self._getter(node, min(getters))

    def _getattr(self, node: ast.Call, place: Place) -> Iterator[_Found]:
        match node.args:
            case [target, ast.Constant(value=str(name)), *_]:
                dotted = list(self._dotted(node))
                yield from dotted or self._named(target, name, f".{name}()", place)
            case [target, *_] if not isinstance(target, ast.Starred) and self._meanings.is_own(target, place):
                return
            case _:
                yield "getattr", roundabout.GETATTR

    def _getter(self, node: ast.Call, path: str) -> Iterator[_Found]:
        names = node.args if path.endswith("attrgetter") else node.args[:1]
        for name in names:
            match name:
                case ast.Constant(value=str(text)):
                    yield from ((f"{path}({part!r})", None) for part in text.split(".") if self._is_refused(part))
                case _:
                    yield path, roundabout.GETATTR
                    return

    def _is_refused(self, name: str) -> bool:
        known = (self._methods, self._names.methods, self._names.own_methods, roundabout.ATTRIBUTES)
        return any(name in names for names in known)

    def _attribute(self, node: ast.Attribute, place: Place) -> Iterator[_Found]:
        dotted = list(self._dotted(node))
        yield from dotted
        if not dotted and isinstance(node.ctx, ast.Load) and self._is_refused(node.attr):
            yield from self._named(node.value, node.attr, f".{node.attr}{'()' * (node in self._called)}", place)

    def _named(self, target: ast.expr, name: str, shown: str, place: Place) -> Iterator[_Found]:
        """An attribute of what may be an array or a module: not of the module's own object."""
        if self._meanings.is_own(target, place):
            return
        if (symbol := self._names.methods.get(name)) is not None:
            yield f"{shown} (the operator {symbol})", None
        elif (way := roundabout.ATTRIBUTES.get(name)) is not None:
            yield shown, way
        elif self._is_method(target, name):
            yield shown, None

    def _is_method(self, target: ast.expr, name: str) -> bool:
        own = name in self._names.own_methods and not self._is_module(target)
        return own or (name in self._methods and self._may_be_array(target))

    def _is_module(self, target: ast.expr) -> bool:
        """Whether it is a module, as far as the imports tell: what is named there is a function and no method."""
        paths = self._meanings.paths(target)
        return bool(paths) and self._meanings.only_imported(target) and not any("." in path for path in paths)

    def _may_be_array(self, target: ast.expr) -> bool:
        """Not what stands for another module, nor the limits of a dtype, nor self."""
        match target:
            case ast.Name(id="self" | "cls"):
                return False
            case ast.Call(func=function) if not _LIMITS.isdisjoint(self._meanings.paths(function)):
                return False
        roots = {root(path) for path in self._meanings.paths(target)}
        return not roots or "numpy" in roots


def _reads_arrays(call: ast.Call) -> bool:
    """Say whether a call of np.load names a file and no more, so that it unpickles nothing."""
    return len(call.args) == 1 and not isinstance(call.args[0], ast.Starred) and not call.keywords
