"""Which of the names and operators that a stage forbids a module uses, under whatever name it imported them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from grader.course.stage import OPERATORS, Forbidden
from grader.submission.source.imports import and_more, imported, root
from grader.submission.source.problem import Problem, clipped

# Functions of numpy that are methods of arrays too: forbidding numpy.dot forbids x.dot().
ARRAY_METHODS = frozenset({
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "choose", "clip", "compress", "conj",
    "conjugate", "copy", "cumprod", "cumsum", "diagonal", "dot", "max", "mean", "min", "nonzero", "partition", "prod",
    "put", "ravel", "repeat", "reshape", "resize", "round", "searchsorted", "sort", "squeeze", "std", "sum", "swapaxes",
    "take", "trace", "transpose", "var",
})  # fmt: skip
# What one name can stand for is bounded: `x = x.a`, `x = x.b` and so on doubles it with each line.
MAX_MEANINGS = 16
MAX_DOTS = 8


def forbidden_problem(nodes: Sequence[ast.AST], forbidden: Forbidden) -> Problem | None:
    """The first use of what the stage forbids, and how many others there are."""
    uses = sorted(set(_uses(nodes, forbidden))) if forbidden.operators or forbidden.names else []
    if not uses:
        return None
    (line, _, what), *others = uses
    hint = "Also " + ", ".join(f"{clipped(name)} in line {at}" for at, _, name in others[:3]) if others else None
    more = and_more(len(others))
    message = f"line {line}: {clipped(what)} is not allowed in this stage{more}. {forbidden.reason}"
    return Problem("forbidden", message, line, hint)


def _uses(nodes: Sequence[ast.AST], forbidden: Forbidden) -> Iterator[tuple[int, int, str]]:
    """Line, column and name of each use of what is forbidden."""
    names = _Names(nodes)
    operators = {OPERATORS[symbol]: symbol for symbol in forbidden.operators}
    methods = ARRAY_METHODS & {name.removeprefix("numpy.") for name in forbidden.names}
    for node in _outermost(nodes):
        used: list[str] = []
        match node:
            case ast.BinOp(op=op) if type(op) in operators:
                used = [operators[type(op)]]
            case ast.AugAssign(op=op) if type(op) in operators:
                used = [f"{operators[type(op)]}="]
            case ast.Import() | ast.ImportFrom():
                used = _covered(forbidden, imported(node))
            case ast.Call(func=function):
                used = _covered(forbidden, names.paths(node))[:1]
                if not used and not _covered(forbidden, names.paths(function)):
                    used = [f".{name}()" for name in names.array_methods(node) if name in methods]
            case ast.Name(ctx=ast.Load()) | ast.Attribute():
                used = _covered(forbidden, names.paths(node))[:1]
        if isinstance(node, ast.expr | ast.stmt):
            yield from ((node.lineno, node.col_offset, name) for name in used)


def _outermost(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Every node, but of a dotted name such as np.linalg.norm only the whole; parents come before their parts."""
    within: set[ast.AST] = set()
    for node in nodes:
        if isinstance(node, ast.Attribute):
            within.add(node.value)
        if node not in within or not isinstance(node, ast.Name | ast.Attribute):
            yield node


def _covered(forbidden: Forbidden, paths: Iterable[str]) -> list[str]:
    """Those of the dotted names that are forbidden themselves or lie in a forbidden module."""
    return [path for path in paths if any(f"{path}.".startswith(f"{name}.") for name in forbidden.names)]


class _Names:
    """What the names in a module stand for, as far as its imports and plain assignments tell."""

    def __init__(self, nodes: Sequence[ast.AST]) -> None:
        self._imports: dict[str, set[str]] = {}
        self._stars: list[str] = []
        self._bound: set[str] = set()
        for node in nodes:
            self._learn(node)
        for node in nodes:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name() | ast.Attribute() as value):
                    self._add(name, (path for path in self.paths(value) if root(path) == "numpy"))

    def _add(self, name: str, paths: Iterable[str]) -> None:
        known = self._imports.setdefault(name, set())
        for path in paths:
            if len(known) < MAX_MEANINGS and path.count(".") <= MAX_DOTS:
                known.add(path)

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

    def array_methods(self, node: ast.expr) -> list[str]:
        """The method that is called on what may be an array: not on the module's own object, nor on another module."""
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self" | "cls"))):
                return []
            case (
                ast.Call(func=ast.Attribute(value=target, attr=name))
                | ast.Call(func=ast.Name(id="getattr"), args=[target, ast.Constant(value=str(name)), *_])
            ):
                roots = {root(path) for path in self.paths(target)}
                return [name] if not roots or "numpy" in roots else []
        return []
