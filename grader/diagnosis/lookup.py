"""Look up the right modules' value at a fault, and write it in the learner's own names.

An expression of the learner's whose value no right module has, and one of a right module whose value the learner's
never has, may be each other's counterpart. The right one is rebuilt from what is at hand: names and attributes of the
same values. Where that differs from what stands there in one or two small places, these are what is tried.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from grader.course.mutants import replaced
from grader.diagnosis.edits.base import (
    BUILT_IN,
    LIKELY,
    USED_FOR,
    USUAL,
    VAGUE,
    Edit,
    Filled,
    Site,
    is_equal,
    is_small,
    number_in,
)
from grader.diagnosis.instrument import Trace
from grader.diagnosis.module_text import Function, loaded, parameters, stored
from grader.diagnosis.trees import walk
from grader.diagnosis.values import Print, Prints

LARGEST = 30  # nodes of what may be put in
MOST_PAIRS = 60
MOST_TRIED = 14
FARTHEST = 6  # nodes by which two expressions may differ
SET_AND_READ = 2  # times that a name stands in a function
DEEPEST = 3  # names that stand for one another
VALUES = (ast.BinOp, ast.Call, ast.UnaryOp, ast.Subscript, ast.Compare, ast.IfExp, ast.Attribute, ast.Name)
LIBRARIES = ("np", "math")
ALONE = "`{old}` alone is used where more is needed"
PART = "all of `{old}` is used where a part of it is needed"
TURNED = "`{old}` is in the opposite order"
SQUARE = "`{old}` is used where its square is needed"
MISSING = {
    (ast.Mult, None): "the factor `{new}` is missing beside `{old}`",
    (ast.Add, None): "`{new}` is not added to `{old}`",
    (ast.Sub, True): "`{new}` is not subtracted from `{old}`",
    (ast.Div, True): "`{old}` is not divided by `{new}`",
}


@dataclass
class Right:
    """An expression of a right module with its value."""

    trace: Trace
    function: str
    node: ast.expr
    known: Print


class Lookup:
    """Looks values up in runs of right modules."""

    def __init__(self, learner: Trace, rights: Sequence[Trace]) -> None:
        theirs = Prints(learner.prints())
        self._missing: list[Right] = []
        self._made = {
            (id(trace), name): _made(trace.probes.module.functions[name])
            for trace in rights
            for name in trace.probes.functions
        }
        for trace in rights:
            seen = Prints()
            for node, sample in trace.entries:
                if (
                    not isinstance(node, VALUES)
                    or sample.known is None
                    or sample.known in theirs
                    or sample.known in seen
                ):
                    continue
                if len(walk(node)) <= LARGEST and not isinstance(node, ast.Name):
                    seen.add(sample.known)
                    self._missing.append(Right(trace, trace.probes.within[id(node)], node, sample.known))

    def edits(self, site: Site, trusted: frozenset[str] = frozenset()) -> Iterator[Edit]:
        """Yield what may have to stand in the place of an expression of the learner's, the nearest first."""
        node = site.node
        sample = site.value()
        found: list[tuple[int, ast.expr]] = []
        for right in self._missing:
            is_other = sample is not None and sample.known is not None and right.known.shape != sample.known.shape
            if is_other and sample is not None and (sample.kind != "array" or len(found) > MOST_PAIRS):
                continue
            made = _Translation(self, site, right).expression()
            if isinstance(made, (ast.Compare, ast.BoolOp)) and sample is not None and sample.is_numeric:
                continue  # zeros and ones of a comparison are a number's by chance
            if made is not None and len(walk(made)) <= LARGEST:
                distance = sum(_size(old) + _size(new) for old, new in differing(node, made)) // 2
                found.append((distance, made))
        found.sort(key=lambda pair: pair[0])
        seen: set[str] = set()
        for distance, made in found[:MOST_TRIED]:
            pairs = differing(node, made)
            if (turned := _turned(node, made)) is not None and _extent(turned[1]) < _extent(pairs):
                made, pairs = turned
            text = ast.dump(made)
            if not pairs or distance > FARTHEST or text in seen or isinstance(pairs[0][1], ast.List):
                continue  # `[i]` for `i` says nothing of the axis that it keeps
            seen.add(text)
            old, new = pairs[0] if len(pairs) == 1 else (node, made)
            is_named = is_small(new) or any(is_equal(each, new) for each in walk(old))
            says = USED_FOR if is_named else said_of(old, new)
            rank = LIKELY if distance <= 2 else USUAL
            adds = _size(made) > _size(node)
            edit = Edit("value-aligned", site.function, ((old, new),), rank, says, "", site.statement, adds, site.show)
            yield _where_set(edit, site)

    def made(self, right: Right, name: str) -> ast.expr | None:
        """Return what a local name of a right module's function is made of."""
        return self._made.get((id(right.trace), right.function), {}).get(name)


def _where_set(edit: Edit, site: Site) -> Edit:
    """Return an edit of a name that one line sets and one reads: of something more, it is the first that lacks it."""
    (old, new), *more = edit.changes
    if not isinstance(old, ast.Name) or not isinstance(new, ast.expr) or more or is_small(new) or site.is_in_loop:
        return edit
    lines = site.context.first_lines(site.function)
    setting = [each for each in site.definition.body if old.id in stored(each)]
    times = sum(isinstance(each, ast.Name) and each.id == old.id for each in walk(site.definition))
    match setting:
        case [ast.Assign(targets=[ast.Name()], value=value) as first] if times == SET_AND_READ:
            if all(lines.get(name, 0) < first.lineno for name in loaded(new) - {old.id}):
                made = Filled({old.id: value}).visit(copy.deepcopy(new))
                return replace(edit, changes=((value, made),), statement=first)
    return edit


def said_of(old: ast.AST, new: ast.AST) -> str:
    """Return what is said of an expression in whose place a larger one is needed."""
    match new:
        case ast.Subscript(value=value) if is_equal(value, old):
            if any(isinstance(each, ast.Slice) and number_in(each.step) == -1 for each in walk(new.slice)):
                return TURNED
            is_wider = any(isinstance(each, ast.Constant) and each.value is None for each in walk(new.slice))
            return VAGUE if is_wider else PART
        case ast.BinOp(left=base, op=ast.Pow(), right=ast.Constant(value=2)) if is_equal(base, old):
            return SQUARE
        case ast.BinOp(left=left, op=ast.Mult(), right=right) if is_equal(left, old) and is_equal(right, old):
            return SQUARE
    return _more(old, new) if any(is_equal(each, old) for each in walk(new)) else VAGUE


class _Translation:
    """Writes one expression of a right module with what is at hand at a site."""

    def __init__(self, lookup: Lookup, site: Site, right: Right) -> None:
        self._lookup = lookup
        self._site = site
        self._right = right
        self._own = [
            (each, sample)
            for each in walk(site.node)[1:]
            if isinstance(each, ast.expr) and (sample := site.value(each)) is not None and sample.known is not None
        ]

    def expression(self) -> ast.expr | None:
        return self._expression(self._right.node, 0)

    def _expression(self, node: ast.expr, depth: int) -> ast.expr | None:
        if isinstance(node, ast.Constant):
            return node
        sample = self._right.trace.value(node)
        if sample is not None and sample.known is not None and (found := self._at_hand(node, sample.known)) is not None:
            return found
        if isinstance(node, ast.Name):
            inner = self._lookup.made(self._right, node.id)
            if inner is not None and depth < DEEPEST:
                return self._expression(inner, depth + 1)
            known = {*self._site.module.functions, *LIBRARIES, *BUILT_IN, *parameters(self._site.definition)}
            return node if node.id in known and sample is None else None
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in LIBRARIES:
            return node
        return self._parts(node, depth)

    def _at_hand(self, node: ast.expr, known: Print) -> ast.expr | None:
        name = getattr(node, "id", getattr(node, "attr", ""))
        named = [
            operand
            for operand, sample in self._site.operands
            if sample.known is not None and sample.known.is_like(known)
        ]
        same = [each for each in named if name and name in (getattr(each, "id", ""), getattr(each, "attr", ""))]
        inside = [each for each, sample in self._own if sample.known is not None and sample.known.is_like(known)]
        if same or inside:
            return (same or inside)[0]
        return named[0] if named and (known.shape or not isinstance(node, ast.Name)) else None

    def _parts(self, node: ast.expr, depth: int) -> ast.expr | None:
        fields: dict[str, object] = {}
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                made = self._expression(value, depth)
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

    def _item(self, item: object, depth: int) -> object | None:
        if isinstance(item, ast.keyword):
            value = self._expression(item.value, depth)
            return None if value is None else ast.keyword(item.arg, value)
        if isinstance(item, ast.expr):
            return self._expression(item, depth)
        return item if isinstance(item, (ast.operator, ast.cmpop)) else None


def differing(one: ast.AST, other: ast.AST) -> list[tuple[ast.AST, ast.AST]]:
    """Return the smallest pairs of parts in which two expressions differ."""
    if type(one) is type(other) and ast.dump(one) == ast.dump(other):
        return []
    if type(one) is not type(other):
        return [(one, other)]
    ours, theirs = list(ast.iter_child_nodes(one)), list(ast.iter_child_nodes(other))
    plain = [(name, value) for name, value in ast.iter_fields(one) if not isinstance(value, (ast.AST, list))]
    if len(ours) != len(theirs) or any(getattr(other, name, None) != value for name, value in plain):
        return [(one, other)]
    found: list[tuple[ast.AST, ast.AST]] = []
    for a, b in zip(ours, theirs, strict=True):
        if isinstance(a, (ast.operator, ast.cmpop, ast.unaryop, ast.boolop)):
            if type(a) is not type(b):
                return [(one, other)]
            continue
        found += differing(a, b)
    return [(one, other)] if len(found) > 2 else found


def _turned(node: ast.AST, made: ast.expr) -> tuple[ast.expr, list[tuple[ast.AST, ast.AST]]] | None:
    """Return a sum or product with its sides in the other order, and in what it then differs; None for the rest."""
    if not isinstance(made, ast.BinOp) or not isinstance(made.op, (ast.Add, ast.Mult)) or type(node) is not ast.BinOp:
        return None
    other: ast.expr = replaced(made, left=made.right, right=made.left)
    return other, differing(node, other)


def _extent(pairs: Sequence[tuple[ast.AST, ast.AST]]) -> int:
    return sum(_size(old) + _size(new) for old, new in pairs)


def _more(old: ast.AST, new: ast.AST) -> str:
    """Return what is said of a value that is a part of what is needed: what is missing beside it."""
    match new:
        case ast.Call(func=func, args=[one, *_]) if is_equal(one, old):
            return f"`{ast.unparse(func)}` of `{{old}}` is needed"
        case ast.BinOp(left=left, op=op, right=right) if is_equal(left, old) or is_equal(right, old):
            other = right if is_equal(left, old) else left
            says = MISSING.get((type(op), other is right)) or MISSING.get((type(op), None))
            return ALONE if says is None else says.replace("{new}", ast.unparse(other))
    return ALONE


def _size(node: ast.AST) -> int:
    return sum(isinstance(each, (ast.expr, ast.keyword)) for each in walk(node))


def _made(node: Function) -> dict[str, ast.expr]:
    """Return what each local name is made of that one plain assignment sets."""
    found: dict[str, ast.expr] = {}
    times: dict[str, int] = {}
    for each in walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            times[each.id] = times.get(each.id, 0) + 1
        if isinstance(each, ast.Assign) and len(each.targets) == 1 and isinstance(each.targets[0], ast.Name):
            found[each.targets[0].id] = each.value
    given = set(parameters(node))
    return {name: value for name, value in found.items() if times[name] == 1 and name not in given}
