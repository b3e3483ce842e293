"""A repair: changes of a learner's text that are in force together, and how likely the slip is that they undo."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from grader.diagnosis.repairs.kinds.draws import ORDERS
from grader.diagnosis.repairs.kinds.silent import is_made_finite
from grader.diagnosis.repairs.written import Written
from grader.diagnosis.slips.schema import Change
from grader.diagnosis.slips.wording.phrases import called
from grader.diagnosis.trees import walk

MOST_TOGETHER = 8
MOST_GROUPS = 40  # changes of one manner that are tried together
MOST_OF_A_CHECK = 5  # statements


@dataclass(frozen=True, eq=False)
class Repair:
    """Changes of a learner's text that are in force together."""

    changes: tuple[Change, ...]
    written: Written
    before: tuple[Change, ...] = ()  # that are in the text already

    @property
    def all(self) -> tuple[Change, ...]:
        return self.before + self.changes

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(change.number for change in self.changes)

    @property
    def likelihood(self) -> int:
        return max(map(likelihood, self.all))

    @property
    def adds(self) -> bool:
        """Say whether a term or a factor is put in: where an answer says little, many do."""
        return any(isinstance(each.new, ast.BinOp) and each.new.left is each.old for each in self.all)

    def after(self, other: Repair | None) -> Repair:
        """Return this one with what another has put right before."""
        return self if other is None else replace(self, before=other.before + other.changes)


def refuses(node: ast.FunctionDef) -> bool:
    """Say whether a function does nothing but refuse."""
    return (
        all(isinstance(each, (ast.If, ast.Raise, ast.Return, ast.Expr, ast.Assign)) for each in node.body)
        and any(isinstance(each, ast.If) and isinstance(each.body[0], ast.Raise) for each in node.body)
        and len(node.body) < MOST_OF_A_CHECK
    )


def likelihood(change: Change) -> int:
    """Return how early a change is tried: what stands for something else first, then what is missing."""
    if isinstance(change.new, list) or change.kind in ("aligned", "default", "shifted"):
        return 1
    if isinstance(change.old, ast.Constant) or (
        isinstance(change.new, ast.AST) and is_made_finite(change.old, change.new)
    ):
        return 1
    if isinstance(change.holder, ast.Compare) and change.new in getattr(change.old, "args", ()):
        return 2  # a length is never an array: such a condition no longer holds, or always does
    if isinstance(change.new, ast.If) and isinstance(change.new.test, ast.Constant):
        return 1
    if isinstance(change.new, ast.BinOp) and change.new.left is change.old:
        if isinstance(change.new.op, ast.Add) and isinstance(getattr(change.old, "op", None), ast.MatMult):
            return 0
        return 1 if isinstance(change.new.right, (ast.Name, ast.Attribute, ast.Subscript)) else 2
    if isinstance(change.new, ast.AST) and any(each is change.old for each in walk(change.new)):
        return 2
    return 0


def reshapes(change: Change, values: Mapping[str, Any]) -> bool:
    """Say whether a name stands for an array of another shape: such a change is tried behind the others."""
    if not isinstance(change.old, ast.Name) or not isinstance(change.new, ast.Name):
        return False
    shapes = [getattr(values.get(each.id), "shape", None) for each in (change.old, change.new)]
    return shapes[0] != shapes[1]


def together(singles: Sequence[Repair]) -> Iterator[Repair]:
    """Yield changes of one manner that are made wherever they fit, as a name that is confused throughout."""
    groups: dict[object, dict[int, Repair]] = {}
    for each in singles:
        change = each.changes[0]
        if isinstance(change.new, ast.AST) and isinstance(change.old, ast.AST):
            groups.setdefault(_edit(change.old, change.new) or change.manner, {}).setdefault(id(change.old), each)
    several = [list(group.values()) for group in groups.values() if len(group) > 1]
    for group in [each for each in several if len(each) < MOST_TOGETHER][:MOST_GROUPS]:
        yield Repair(tuple(each.changes[0] for each in group), group[0].written)
    for group in several[:MOST_GROUPS]:
        of_one: dict[int, list[Repair]] = {}
        for each in group:
            of_one.setdefault(id(each.changes[0].statement), []).append(each)
        for own in of_one.values():
            if 1 < len(own) < len(group):
                yield Repair(tuple(each.changes[0] for each in own), own[0].written)


def crossed(singles: Sequence[Repair]) -> Iterator[Repair]:
    """Yield names that are confused in two lines at once, each with another: Q for K in one, Q for V in the other."""
    names = [each for each in singles if len(each.changes) == 1 and is_of_names(each.changes[0])]
    pairs = [(a, b) for a, b in combinations(names, 2) if a.changes[0].statement is not b.changes[0].statement]
    pairs.sort(key=lambda pair: _name(pair[0].changes[0].old) != _name(pair[1].changes[0].old))
    yield from (Repair((*one.changes, *other.changes), one.written) for one, other in pairs)


def is_of_names(change: Change) -> bool:
    """Say whether one name stands for another."""
    return isinstance(change.old, ast.Name) and isinstance(change.new, ast.Name)


def is_likely(change: Change) -> bool:
    """Say whether a change is worth the run of a whole test: none that leaves a line out, or calls another function."""
    old, new = change.old, change.new
    is_none = isinstance(new, ast.Constant) and new.value is None
    if isinstance(new, ast.Pass) or change.kind == "overwrites" or is_none:
        return False
    if isinstance(change.holder, ast.Call) and change.holder.func is old and isinstance(new, ast.Name):
        return False
    if isinstance(change.statement, ast.Assign) and called(change.statement.value) in ("asarray", "array"):
        return False
    is_more = isinstance(new, ast.BinOp) and new.left is old
    if is_more and any(called(each) in ORDERS for each in walk(change.statement) if isinstance(each, ast.Call)):
        return False
    is_negative = isinstance(new, ast.UnaryOp) and isinstance(new.op, ast.USub) and new.operand is old
    return not is_negative


def _edit(old: ast.AST, new: ast.AST) -> tuple[str, str] | None:
    """Return what of one name was replaced by what, as 1 by 2 where gamma1 became gamma2; None for other changes."""
    one, other = (_name(each) for each in (old, new))
    if not one or not other:
        return None
    start = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    one, other = one[start:], other[start:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    return one, other


def _name(node: ast.AST) -> str:
    key = getattr(node, "slice", None)
    found = getattr(node, "id", getattr(node, "attr", getattr(key or node, "value", "")))
    return found if isinstance(found, str) else ""


def aside(repair: Repair) -> bool:
    """Say whether a condition changes in a sum, a bound by 1, a number that stands alone, or a power is put in.

    What helps as well is the likelier slip: the comparison that is there, a name that has the value of the number, or
    what is too much beside what would need a root.
    """
    return any(
        (
            isinstance(change.statement, (ast.If, ast.While))
            and isinstance(change.old, ast.BinOp)
            and isinstance(change.new, ast.BinOp)
        )
        or _moved_by_one(change.old, change.new)
        or _is_step_elsewhere(change.old, change.new)
        or _is_power_of(change.old, change.new)
        or _is_number_alone(change)
        for change in repair.changes
    )


def _is_step_elsewhere(old: object, new: object) -> bool:
    """Say whether what is done to a formula is done to a part of it: to leave it out may help as well."""
    if not isinstance(old, ast.Call) or not isinstance(new, ast.BinOp):
        return False
    return any(isinstance(each, ast.Call) and each.func is old.func for each in walk(new))


def _is_number_alone(change: Change) -> bool:
    both = isinstance(change.old, ast.Constant) and isinstance(change.new, ast.Constant)
    return both and isinstance(change.holder, (ast.Assign, ast.Compare))


def _is_power_of(old: object, new: object) -> bool:
    """Say whether a value, or a divisor, is the same raised to a power that is written out."""
    if (
        isinstance(old, ast.BinOp)
        and isinstance(new, ast.BinOp)
        and old.left is new.left
        and type(old.op) is type(new.op)
    ):
        old, new = old.right, new.right
    is_power = isinstance(new, ast.BinOp) and isinstance(new.op, ast.Pow) and isinstance(new.right, ast.Constant)
    return is_power and isinstance(new, ast.BinOp) and new.left is old


def _moved_by_one(old: object, new: object) -> bool:
    """Say whether a bound of a slice has a number more."""
    if not isinstance(old, ast.Slice) or not isinstance(new, ast.Slice):
        return False
    pairs = ((old.lower, new.lower), (old.upper, new.upper))
    moved = (theirs for ours, theirs in pairs if ours is not theirs and isinstance(theirs, ast.BinOp))
    return any(isinstance(each.right, ast.Constant) for each in moved)


def grown(repair: Repair) -> int:
    """Return by how much longer the repaired lines are: of two repairs, the shorter is the likelier."""

    def size(node: object) -> int:
        return len(list(walk(node))) if isinstance(node, ast.AST) else 20

    return sum(abs(size(change.new) - size(change.old)) for change in repair.all)
