"""What the names in a module stand for, as far as its imports and plain assignments tell."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable

from grader.submission.source.forbidden.places import Layout, Place
from grader.submission.source.imports import imported, root

# What one name can stand for is bounded: `x = x.a`, `x = x.b` and so on doubles it with each line.
MAX_MEANINGS = 16
MAX_DOTS = 8


class Meanings:
    """The dotted names that an expression may stand for; assignments are followed for the modules that are named."""

    def __init__(self, layout: Layout, followed: frozenset[str]) -> None:
        self._imports: dict[str, set[str]] = {}
        self._crowded: set[str] = set()
        self._stars: list[str] = []
        self._bound: set[str] = set()
        self._made: set[str] = set()  # names that are assigned an object of one of the module's own classes
        defined = Counter(node.name for node in layout.binding if isinstance(node, ast.ClassDef))
        self._plain_classes = {name for name in layout.plain_classes if defined[name] == 1}
        for node in layout.binding:
            self._learn(node)
        self._plain_classes -= self._bound_otherwise(layout.binding)
        made: set[int] = set()
        for node in layout.nodes:
            if type(node) is not ast.Assign:
                continue
            match node:
                case ast.Assign(targets=targets, value=ast.Name() | ast.Attribute() as value):
                    paths = [path for path in self.paths(value) if root(path) in followed]
                    for target in targets if paths else ():
                        if isinstance(target, ast.Name):
                            self._add(target.id, paths)
                case ast.Assign(targets=[ast.Name(id=name) as target], value=ast.Call(func=ast.Name(id=maker))):
                    if maker in self._plain_classes:
                        self._made.add(name)
                        made.add(id(target))
        for node in layout.binding if self._made else ():
            match node:
                case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) if id(node) not in made:
                    self._made.discard(name)

    def _bound_otherwise(self, binding: Iterable[ast.AST]) -> set[str]:
        """The names that something else than a class is bound to, anywhere in the module."""
        functions = {node.name for node in binding if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
        stored = {node.id for node in binding if isinstance(node, ast.Name)}
        given = {node.arg for node in binding if isinstance(node, ast.arg)}
        return functions | stored | given | self._imports.keys()

    def _add(self, name: str, paths: Iterable[str]) -> None:
        known = self._imports.setdefault(name, set())
        for path in paths:
            if path in known:
                continue
            if len(known) < MAX_MEANINGS and path.count(".") <= MAX_DOTS:
                known.add(path)
            else:
                self._crowded.add(name)

    def _learn(self, node: ast.AST) -> None:
        match node:
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                for alias, path in zip(aliases, imported(node), strict=True):
                    if alias.name == "*":
                        star = path.removesuffix(".*")
                        if star not in self._stars and len(self._stars) < MAX_MEANINGS:
                            self._stars.append(star)
                    elif isinstance(node, ast.Import) and not alias.asname:
                        self._add(root(path), [root(path)])
                    else:
                        self._add(alias.asname or alias.name, [path])
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                self._bound.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                self._bound.add(name)

    def paths(self, node: ast.expr) -> list[str]:
        """The dotted names that an expression may stand for; none for a value that the module computes."""
        attributes: list[str] = []
        while isinstance(node, ast.Attribute):
            attributes.append(node.attr)
            node = node.value
        bases: list[str] = []
        match node:
            case ast.Name(id=name):
                bases = self._of_name(name)
            case ast.Call(func=ast.Name(id="getattr"), args=[target, ast.Constant(value=str(name)), *_]):
                bases = [f"{path}.{name}" for path in self.paths(target)]
        return [".".join((base, *reversed(attributes))) for base in bases]

    def _of_name(self, name: str) -> list[str]:
        if known := self._imports.get(name):
            return sorted(known)
        return [] if name in self._bound else [name, *(f"{star}.{name}" for star in self._stars)]

    def is_imported(self, node: ast.expr) -> bool:
        """Whether a name, dotted or not, begins with one that an import has bound."""
        begin = _begin(node)
        return begin is not None and begin.id in self._imports

    def only_imported(self, node: ast.expr) -> bool:
        """Whether it is imported, and the name that it begins with is bound by nothing else in the whole module."""
        begin = _begin(node)
        return begin is not None and begin.id in self._imports and begin.id not in self._bound

    def crowded(self, node: ast.expr) -> str | None:
        """The name that it begins with, where that may stand for more than is followed."""
        begin = _begin(node)
        return begin.id if begin is not None and begin.id in self._crowded else None

    def follows(self, node: ast.Assign) -> bool:
        """Whether each name that is assigned stands for what the value stands for."""
        paths = set(self.paths(node.value))
        return bool(paths) and all(
            isinstance(target, ast.Name) and paths <= self._imports.get(target.id, set()) for target in node.targets
        )

    def is_own(self, node: ast.expr, place: Place) -> bool:
        """Whether it is an object or a class that the module itself defines: neither an array nor a module."""
        while True:
            match node:
                case ast.Name(id=name):
                    is_self = place.own is not None and place.own.held and name == place.own.name
                    return is_self or name in self._made or name in self._plain_classes
                case ast.Call(func=ast.Name(id="super")):
                    return place.own is not None
                case ast.Call(func=ast.Name(id=name), args=[one]) if name == "type":
                    node = one
                case ast.Call(func=ast.Name(id=name)):
                    return name in self._plain_classes
                case ast.Attribute(value=target, attr="__class__"):
                    node = target
                case _:
                    return False


def _begin(node: ast.expr) -> ast.Name | None:
    """The name that a dotted name begins with, also where getattr spells a part of it."""
    while True:
        match node:
            case ast.Attribute(value=inner) | ast.Call(func=ast.Name(id="getattr"), args=[inner, *_]):
                node = inner
            case ast.Name():
                return node
            case _:
                return None
