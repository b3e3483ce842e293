"""Clauses for a slice with another bound: which of its ends moved, which way, and by how much."""

from __future__ import annotations

import ast
from collections import Counter

from grader.diagnosis.slips.wording.clause import Clause, following
from grader.diagnosis.slips.wording.phrases import Vocabulary, constant_of

BOUNDS = (("lower", "began", "began at the first entry"), ("upper", "ended", "ran to the last entry"))
COUNTS = {1: "one entry", 2: "two entries", 3: "three entries"}


def sliced(old: ast.Slice, new: ast.AST, holder: ast.AST, say: Vocabulary) -> Clause | None:
    """Return the clause of a slice of which one bound is another; None where that has no words."""
    if not isinstance(new, ast.Slice):
        return None
    part = f"a slice{following('of', say.phrase(holder.value) if isinstance(holder, ast.Subscript) else None)}"
    if old.step is not new.step:
        return _stepped(part, old.step, new.step)
    for bound, did, fully in BOUNDS:
        was, now = getattr(old, bound), getattr(new, bound)
        if was is not now:
            said = fully if now is None else f"{did} {_moved(was, now, bound == 'upper', say)}"
            return Clause(f"{part} {said}", "Look at its bounds.", 1)
    return None


def _stepped(part: str, was: ast.expr | None, now: ast.expr | None) -> Clause:
    if now is None:
        return Clause(f"{part} took every entry", "Look at its steps.", 1)
    if was is None and constant_of(now) == -1:
        return Clause(f"{part} ran backwards", "Keep the order.", 0)
    return Clause(f"{part} took other steps", "Look at its steps.", 1)


def _moved(was: ast.expr | None, now: ast.expr, is_end: bool, say: Vocabulary) -> str:
    """Return how a bound was moved, as far as that follows from its terms; from an end that is open, backwards only."""
    parts = _terms(now)
    if was is not None:
        parts.subtract(_terms(was))
    number = parts.pop("", 0)
    others = [(name, times) for name, times in parts.items() if times]
    counts_back = is_end if was is None else _is_negative(was)
    if counts_back != _is_negative(now):  # one counts from the front, the other from the back
        return "in another place"
    if not others and number:
        count = COUNTS.get(abs(number), f"{abs(number)} entries")
        return f"{count} {'later' if number > 0 else 'earlier'}"
    if len(others) == 1 and not number and abs(others[0][1]) == 1:
        name = say.phrase(ast.parse(others[0][0], mode="eval").body)
        if name:
            return f"{'later' if others[0][1] > 0 else 'earlier'}, by {name}"
    return "in another place"


def _is_negative(node: ast.expr) -> bool:
    """Say whether a bound counts from the back, as its text has it."""
    first = node
    while isinstance(first, ast.BinOp) and isinstance(first.op, (ast.Add, ast.Sub)):
        first = first.left
    return isinstance(first, ast.UnaryOp) and isinstance(first.op, ast.USub)


def _terms(node: ast.expr, sign: int = 1) -> Counter[str]:
    """Return the terms of a sum with their signs; that of no name is the number."""
    match node:
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            terms = _terms(node.left, sign)
            terms.update(_terms(node.right, -sign if isinstance(node.op, ast.Sub) else sign))
            return terms
        case ast.UnaryOp(op=ast.USub()):
            return _terms(node.operand, -sign)
        case ast.Constant(value=int() as number):
            return Counter({"": sign * number})
    return Counter({ast.unparse(node): sign})
