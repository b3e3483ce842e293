"""In which places two expressions differ: each is a change of its own, which is told by itself."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace

from grader.course.changes import PARTNERS, replaced
from grader.diagnosis.slips.changes import KIN
from grader.diagnosis.slips.schema import Change
from grader.diagnosis.trees import below, is_same, substituted, walk

Pair = tuple[ast.AST, ast.AST, ast.AST]
FARTHEST = 7  # nodes that are changed: what is further away is another formula
MOST = 2  # places: what differs in more is another formula, not a slip


def places(change: Change) -> list[Change] | None:
    """Return the changes that make one expression of another, each as small as it can be; None where they are many.

    What is told of a change looks for the learner's own expression in the new one, so that it stands there as it is.
    """
    if not isinstance(change.new, ast.expr) or not isinstance(change.old, ast.expr):
        return None
    found = [replace(change, old=old, new=new, holder=holder) for old, new, holder in _pairs(change)]
    return found if 0 < len(found) <= MOST else None


def is_small(change: Change) -> bool:
    """Say whether a change is one step: something more or less around it, another operator, name or number."""
    old, new = change.old, change.new
    if not isinstance(new, ast.AST) or not isinstance(old, ast.AST):
        return False
    nested = any(each is old for each in walk(new)) or any(each is new for each in walk(old))
    leaf = (ast.Name, ast.Constant, ast.Attribute, ast.Subscript)
    return (
        nested
        or (isinstance(old, leaf) and isinstance(new, leaf))
        or len(_parts(old))
        == len(_parts(new))
        == len([1 for a, b in zip(_parts(old), _parts(new), strict=True) if is_same(a, b)])
    )


def changed(old: ast.expr, new: ast.expr, differ: Differ | None = None) -> int:
    """Return how much two expressions differ, in nodes that go or come; 0 where they have one text.

    A differ that is given remembers what it was asked before.
    """
    differ = differ or Differ()
    return differ.cost(differ.between(old, new, old))


def alone(old: ast.expr, new: ast.expr, differ: Differ | None = None) -> list[ast.expr]:
    """Return an expression with one of two places as in another one: where that is enough, the rest was no slip."""
    found = (differ or Differ()).between(old, new, old)
    return [substituted(old, *pair[:2]) for pair in found] if len(found) == MOST else []


def _pairs(change: Change) -> list[Pair]:
    assert isinstance(change.new, ast.AST)
    return Differ().between(change.old, change.new, change.holder)


@dataclass
class Differ:
    """Finds the places in which two expressions differ; what is too far apart is one place as a whole."""

    _sizes: dict[int, int] = field(default_factory=dict)
    _texts: dict[int, str] = field(default_factory=dict)
    _found: dict[tuple[int, int], list[Pair]] = field(default_factory=dict)
    _costs: dict[tuple[int, int], int] = field(default_factory=dict)
    _inside: dict[int, frozenset[int]] = field(default_factory=dict)  # the ids of all nodes of one
    _kept: list[ast.AST] = field(default_factory=list)  # whose ids are known here

    def between(self, old: ast.AST, new: ast.AST, holder: ast.AST) -> list[Pair]:
        """Return what has to be replaced by what, and what holds it; nothing where both have one text."""
        key = id(old), id(new)
        if key not in self._found:
            self._kept += [old, new]
            is_same = old is new or (self._size(old) == self._size(new) and self._text(old) == self._text(new))
            self._found[key] = [] if is_same else self._least(old, new, holder)
        return self._found[key]

    def cost(self, pairs: list[Pair]) -> int:
        """Return how many nodes go and come."""
        return sum(self._changed(old, new) for old, new, _ in pairs)

    def _least(self, old: ast.AST, new: ast.AST, holder: ast.AST) -> list[Pair]:
        whole: Pair = (old, new, holder)
        options = [[whole]]
        if abs(self._size(old) - self._size(new)) > FARTHEST:
            return options[0]
        ours, theirs = _parts(old), _parts(new)
        alike = type(old) is type(new) and _plain(old) == _plain(new) and len(ours) == len(theirs)
        if alike and not _unlike(old, new) and not _calls_another(old, new):
            inner = [each for a, b in zip(ours, theirs, strict=True) for each in self.between(a, b, _holder(old, a))]
            if inner:
                options.insert(0, inner)
        if isinstance(old, ast.Attribute) and isinstance(new, ast.Attribute) and _are_confused(old.attr, new.attr):
            other = replaced(old, attr=new.attr)
            options.insert(0, [(old, other, holder), *self.between(old.value, new.value, old)])
        if isinstance(old, ast.BinOp) and isinstance(new, ast.BinOp) and _unlike(old, new):
            inner = [*self.between(old.left, new.left, old), *self.between(old.right, new.right, old)]
            options.insert(0, [(old, replaced(old, op=new.op), holder), *inner])
        for name, part in _sides(new):  # something stands around it that is missing
            less = self.between(old, part, holder)
            if len(less) < MOST and isinstance(old, ast.expr):
                options.append([(old, _around(new, name, old), holder), *less])
        for _, part in _sides(old):  # something stands around it that is too much
            less = self.between(part, new, holder)
            if len(less) < MOST:
                options.append([(old, part, holder), *less])
        costs = [self.cost(pairs) for pairs in options]
        best = [pairs for pairs, cost in zip(options, costs, strict=True) if cost == min(costs)]
        if len(best) == 1:
            return best[0]
        return min(best, key=lambda pairs: (not all(map(self._is_step, pairs)), len(pairs)))

    def _changed(self, old: ast.AST, new: ast.AST) -> int:
        key = id(old), id(new)
        if key not in self._costs:
            self._kept += [old, new]
            self._costs[key] = self._cost(old, new)
        return self._costs[key]

    def _cost(self, old: ast.AST, new: ast.AST) -> int:
        a, b = self._size(old), self._size(new)
        ours, theirs = _parts(old), _parts(new)
        if type(old) is type(new) and len(ours) == len(theirs) and all(map(self._is_one, ours, theirs)):
            return 1  # an operator, a name, a number
        if b > a and self._is_in(old, new):
            return b - a + 1
        if a > b and self._is_in(new, old):
            return a - b + 1
        return a + b

    def _is_in(self, part: ast.AST, whole: ast.AST) -> bool:
        if id(whole) not in self._inside:
            self._kept.append(whole)
            self._inside[id(whole)] = frozenset(map(id, walk(whole)))
        return id(part) in self._inside[id(whole)]

    def _is_step(self, pair: Pair) -> bool:
        """Say whether something is more or less around an expression: that can be told by itself."""
        old, new, _ = pair
        return self._is_in(old, new) or self._is_in(new, old)

    def _is_one(self, one: ast.AST, other: ast.AST) -> bool:
        return self._text(one) == self._text(other)

    def _size(self, node: ast.AST) -> int:
        if id(node) not in self._sizes:
            self._kept.append(node)
            self._sizes[id(node)] = 1 + sum(map(self._size, _parts(node)))
        return self._sizes[id(node)]

    def _text(self, node: ast.AST) -> str:
        if id(node) not in self._texts:
            self._kept.append(node)
            fields = (self._text_of(value) for name, value in ast.iter_fields(node) if name != "ctx")
            self._texts[id(node)] = f"{type(node).__name__}({','.join(fields)})"
        return self._texts[id(node)]

    def _text_of(self, value: object) -> str:
        if isinstance(value, list):
            return f"[{','.join(map(self._text_of, value))}]"
        return self._text(value) if isinstance(value, ast.AST) else repr(value)


def _are_confused(one: str, other: str) -> bool:
    """Say whether two functions are easily taken for each other: sum for mean, not std for sqrt."""
    return other in (*KIN.get(one, ()), PARTNERS.get(one)) or one in KIN.get(other, ())


def _calls_another(old: ast.AST, new: ast.AST) -> bool:
    """Say whether two calls are of functions that nobody takes for each other."""
    names = [str(getattr(getattr(each, "func", None), "attr", "")) for each in (old, new)]
    return names[0] != names[1] and not _are_confused(*names)


def _parts(node: ast.AST) -> list[ast.AST]:
    kept = (ast.expr, ast.keyword)
    return [each for each in below(node) if isinstance(each, kept)]


def _holder(old: ast.AST, part: ast.AST) -> ast.AST:
    return part if isinstance(part, ast.keyword) else old


def _unlike(old: ast.AST, new: ast.AST) -> list[tuple[ast.AST, ast.AST]]:
    """Return the operators in which two expressions of one kind differ."""
    kinds = (ast.operator, ast.cmpop, ast.unaryop, ast.boolop)
    ours, theirs = ([each for each in below(node) if isinstance(each, kinds)] for node in (old, new))
    return [(a, b) for a, b in zip(ours, theirs, strict=False) if type(a) is not type(b)]


def _plain(node: ast.AST) -> list[object]:
    return [value for _, value in ast.iter_fields(node) if not isinstance(value, (ast.AST, list))]


def _sides(node: ast.AST) -> list[tuple[str, ast.expr]]:
    """Return what an expression may stand around: an operand, a function's first argument, what a method is of."""
    match node:
        case ast.BinOp():
            return [("left", node.left), ("right", node.right)]
        case ast.UnaryOp():
            return [("operand", node.operand)]
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np" | "math"))) | ast.Call(func=ast.Name()):
            return [("args", node.args[0])] if node.args else []
        case ast.Call(func=ast.Attribute() as function):
            return [("func", function.value)]
        case ast.Attribute() | ast.Subscript():
            return [("value", node.value)]
    return []


def _around(node: ast.AST, name: str, old: ast.expr) -> ast.AST:
    """Return an expression with another in it."""
    if name == "args" and isinstance(node, ast.Call):
        made: ast.AST = replaced(node, args=[old, *node.args[1:]])
    elif name == "func" and isinstance(node, ast.Call):
        made = replaced(node, func=replaced(node.func, value=old))
    else:
        made = replaced(node, **{name: old})
    return made
