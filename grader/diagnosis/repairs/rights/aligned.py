"""Where a learner's values leave those of a right module: what is made of right values and comes out wrong.

All note what their expressions hold in one test. An expression of the learner's whose value no right module ever has,
and one of a right module's whose value the learner's never has, may be each other's counterpart. The right one is
written with what the learner's function has at hand: names of the same value. Whether it is right there is then tried.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from grader.course.changes import replaced
from grader.diagnosis.repairs.held.prints import Print, Prints
from grader.diagnosis.repairs.relevance import parts_of, statements_of
from grader.diagnosis.repairs.words.differing import FARTHEST, Differ, alone, changed
from grader.diagnosis.repairs.written import Written
from grader.diagnosis.trees import walk

MOST_PAIRS = 80  # of one wrong expression and a right one, in one function
MOST_FORMS = 3  # of one value: total, int(total), max(int(total), 1)
MOST_TRIED = 16  # of these, the nearest
LARGEST = 25  # expressions of what may stand in a line
DEEPEST = 3  # names that stand for one another, of which what they are made of is taken
VALUES = (ast.BinOp, ast.Call, ast.UnaryOp, ast.Subscript, ast.Compare, ast.IfExp, ast.Attribute, ast.Name)
LIBRARIES = ("np", "math")
AtHand = tuple[str, ast.expr, Print]  # a name, as an expression, and what tells its value
BUILT_IN = ("len", "range", "int", "float", "max", "min", "abs", "sum")


@dataclass(frozen=True)
class Right:
    """An expression of a right module, what tells its value, and what each local name of its function is made of."""

    module: Written
    node: ast.expr
    known: Print
    made: Mapping[str, ast.expr]


@dataclass
class Alignment:
    """Holds the values of a learner's module in one test against those of right ones."""

    learners: Written
    rights: Sequence[Written]
    _names: dict[tuple[str, int], list[AtHand]] = field(default_factory=dict)  # by function and line

    def of(
        self, function: str, wanted: Callable[[ast.stmt], bool] = lambda statement: True
    ) -> dict[int, list[ast.expr]]:
        """Return what may have to stand in wanted statements of a learner's function, by the id of an expression."""
        found: dict[int, list[ast.expr]] = {}
        pairs: list[tuple[int, ast.expr, ast.expr]] = []
        differ = Differ()
        for line, node, known in self._wrong(function, wanted):
            for right in self._missing:
                if right.known.shape != known.shape and not _are_slices(node, right.node):
                    continue
                made = _Translation(self, function, line, node, right).expression()
                if made is not None and _size(made) <= LARGEST and len(pairs) < MOST_PAIRS:
                    pairs.append((changed(node, made, differ), node, made))
        pairs.sort(key=lambda pair: (pair[0], _size(pair[1])))  # of several right formulas the nearest
        for _, node, made in [pair for pair in pairs[:MOST_TRIED] if 0 < pair[0] <= FARTHEST]:
            found.setdefault(id(node), []).extend((*alone(node, made, differ), made))
        return found

    def at_hand(self, function: str, line: int) -> list[AtHand]:
        """Return the names of a function that have a value where a line begins, with their attributes and entries."""
        if (function, line) not in self._names:
            first = _first_lines(self.learners.definitions[function])
            held = self.learners.seen.held.get(function, {})
            some = ((path, known) for path, known in held.items() if first.get(path[0], 0) < line)
            self._names[function, line] = [(path[-1], _loaded(path), known) for path, known in some]
        return self._names[function, line]

    @cached_property
    def _missing(self) -> list[Right]:
        """The right modules' expressions whose values the learner's never has, few of one value of each module."""
        theirs = Prints(self.learners.seen.prints.values())
        found: list[Right] = []
        for each in self._expressions:
            is_known = isinstance(each.node, (ast.Name, ast.Attribute)) or each.known in theirs
            seen = [other for other in found if other.module is each.module]
            if not is_known and sum(each.known.is_like(other.known) for other in seen) < MOST_FORMS:
                found.append(each)
        return found

    @cached_property
    def _expressions(self) -> list[Right]:
        """The right modules' expressions with their values, the smallest first."""
        found = []
        for module, name, node in ((each, *own) for each in self.rights for own in each.definitions.items()):
            made = _made(node) if name in module.seen.held else {}
            for each in walk(node) if name in module.seen.held else ():
                if isinstance(each, VALUES) and (known := print_of(module, each)) is not None:
                    found.append(Right(module, each, known, made))
        return sorted(found, key=lambda each: _size(each.node))

    @cached_property
    def _rights(self) -> Prints:
        """All values of the right modules."""
        held = (known for each in self.rights for names in each.seen.held.values() for known in names.values())
        return Prints((*(each.known for each in self._expressions), *held))

    def _wrong(self, function: str, wanted: Callable[[ast.stmt], bool]) -> Iterator[tuple[int, ast.expr, Print]]:
        """Yield the learner's expressions whose values no right module has, and what lines set or return."""
        rights = self._rights
        statements = filter(wanted, statements_of(self.learners.definitions[function].body))
        for each in (node for statement in statements for node in (statement, *parts_of(statement))):
            if isinstance(each, (ast.Return, ast.Assign)) and isinstance(each.value, ast.expr):
                whole = [each.value, *getattr(each.value, "elts", ())]  # it may be right, and not what belongs there
                yield from ((each.lineno, one, seen) for one in whole if (seen := print_of(self.learners, one)))
            known = print_of(self.learners, each)
            is_made = isinstance(each, (ast.BinOp, ast.Call, ast.UnaryOp, ast.Subscript, ast.Compare, ast.IfExp))
            if known is not None and is_made and isinstance(each, ast.expr) and known not in rights:
                yield each.lineno, each, known


def _are_slices(one: ast.AST, other: ast.AST) -> bool:
    """Say whether both cut something out: with other bounds, that is of another shape."""
    both = isinstance(one, ast.Subscript) and isinstance(other, ast.Subscript)
    return both and all(any(isinstance(part, ast.Slice) for part in walk(each)) for each in (one, other))


def print_of(module: Written, node: ast.AST) -> Print | None:
    """Return what tells the value of an expression of a module."""
    return module.seen.prints.get(module.numbers.get(id(node), -1))


@dataclass
class _Translation:
    """Writes an expression of a right module with what a learner's function has at hand in one line."""

    both: Alignment
    function: str
    line: int
    wrong: ast.expr
    right: Right

    def expression(self) -> ast.expr | None:
        """Return the expression; None where a value of it is not at hand."""
        return self._made(self.right.node, 0)

    @cached_property
    def _own(self) -> list[tuple[ast.expr, Print]]:
        """What stands in the wrong expression and may be right."""
        parts = [each for each in walk(self.wrong) if isinstance(each, ast.expr) and each is not self.wrong]
        found = [(each, known) for each in parts if (known := print_of(self.both.learners, each)) is not None]
        return sorted(found, key=lambda pair: -_size(pair[0]))

    def _made(self, node: ast.expr, depth: int) -> ast.expr | None:
        known = print_of(self.right.module, node)
        if known is not None and not isinstance(node, ast.Constant) and (found := self._like(node, known)) is not None:
            return found
        match node:
            case ast.Constant():
                return node
            case ast.Name():
                return self._name(node, depth)
            case ast.Attribute(value=ast.Name(id=library)) if library in LIBRARIES:
                return node
        return self._parts(node, depth)

    def _like(self, node: ast.expr, known: Print) -> ast.expr | None:
        """Return what has the value of an expression: a part of the wrong one, or a name, the one alike first."""
        name = _name_of(node)
        alike = [pair for pair in self.both.at_hand(self.function, self.line) if pair[2].is_like(known)]
        found = [each for own, each, _ in alike if own == name]
        found = found or [each for each, one in self._own if one.is_like(known)]
        if not found and (known.shape or not isinstance(node, ast.Name)):  # a number that is equal may well be another
            found = [each for _, each, _ in alike]
        return found[0] if found else None

    def _name(self, node: ast.Name, depth: int) -> ast.expr | None:
        if node.id in self.right.made and depth < DEEPEST:
            return self._made(self.right.made[node.id], depth + 1)
        given = self.both.learners.definitions[self.function].args.args  # a function among them has no value
        known = {*self.both.learners.functions, *LIBRARIES, *BUILT_IN, *(each.arg for each in given)}
        return node if node.id in known and print_of(self.right.module, node) is None else None

    def _parts(self, node: ast.expr, depth: int) -> ast.expr | None:
        fields: dict[str, object] = {}
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                made = self._made(value, depth)
                if made is None:
                    return None
                fields[name] = made
            elif isinstance(value, list):
                items = [self._item(each, depth) for each in value]
                if any(each is None for each in items):
                    return None
                fields[name] = items
        result: ast.expr = replaced(node, **fields)
        return result

    def _item(self, item: ast.AST, depth: int) -> ast.AST | None:
        if isinstance(item, ast.keyword):
            value = self._made(item.value, depth)
            return None if value is None else ast.keyword(item.arg, value)
        if isinstance(item, ast.expr):
            return self._made(item, depth)
        return item if isinstance(item, (ast.operator, ast.cmpop)) else None


def _size(node: ast.AST) -> int:
    return sum(isinstance(each, (ast.expr, ast.keyword)) for each in walk(node))


def _name_of(node: ast.expr) -> str:
    key = node.slice if isinstance(node, ast.Subscript) else None
    found = getattr(node, "id", getattr(node, "attr", getattr(key, "value", "")))
    return found if isinstance(found, str) else ""


def _loaded(path: tuple[str, ...]) -> ast.expr:
    """Return the expression of a name, or of an attribute or entry of one."""
    name = ast.Name(path[0], ast.Load())
    if len(path) == 1:
        return name
    if path[1] == ".":
        return ast.Attribute(name, path[2], ast.Load())
    return ast.Subscript(name, ast.Constant(path[2]), ast.Load())


def _made(node: ast.FunctionDef) -> dict[str, ast.expr]:
    """Return what each local name is made of that one plain assignment sets."""
    found: dict[str, ast.expr] = {}
    times: dict[str, int] = {}
    for each in walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            times[each.id] = times.get(each.id, 0) + 1
        if isinstance(each, ast.Assign) and len(each.targets) == 1 and isinstance(each.targets[0], ast.Name):
            found[each.targets[0].id] = each.value
    given = {each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    return {name: value for name, value in found.items() if times[name] == 1 and name not in given}


@lru_cache(maxsize=1 << 9)
def _first_lines(node: ast.FunctionDef) -> dict[str, int]:
    """Return where each local name gets its first value."""
    found: dict[str, int] = {}
    for each in walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            found[each.id] = min(each.lineno, found.get(each.id, each.lineno))
    return found
