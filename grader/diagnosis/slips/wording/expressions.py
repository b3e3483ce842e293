"""Clauses for changed signs, conditions, comparisons, slices and tuples; other files have names, numbers and calls."""

from __future__ import annotations

import ast

from grader.diagnosis.slips.wording.calls import call
from grader.diagnosis.slips.wording.clause import Clause, following
from grader.diagnosis.slips.wording.constants import constant
from grader.diagnosis.slips.wording.names import name
from grader.diagnosis.slips.wording.nouns import SYMBOLS
from grader.diagnosis.slips.wording.operations import operation
from grader.diagnosis.slips.wording.phrases import Vocabulary, pair_of
from grader.diagnosis.slips.wording.slices import sliced


def expression(old: ast.AST, new: ast.AST, holder: ast.AST, say: Vocabulary) -> Clause | None:
    """Return the clause of an expression for which another stands; None for a change without words."""
    if isinstance(new, ast.UnaryOp) and new.operand is old:
        return _turned(old, new.op, say)
    match old:
        case ast.BinOp():
            return operation(old, new, say)
        case ast.Constant() | ast.UnaryOp(operand=ast.Constant(), op=ast.USub()):
            return constant(old, new, holder, say)
        case ast.UnaryOp():
            return _plain(old, say)
        case ast.Call():
            return call(old, new, say)
        case ast.Name() | ast.Attribute() | ast.Subscript():
            return name(old, new, holder, say)
        case ast.Compare():
            return _comparison(old, new, say)
        case ast.BoolOp():
            return _condition(old, new, say)
        case ast.IfExp():
            on = following("on", say.names(old.test))
            return Clause(f"the case distinction{on} were left out", "Treat both cases.", 1)
        case ast.Slice():
            return sliced(old, new, holder, say)
        case ast.Tuple() | ast.List():
            return _order(old, new, holder, say)
        case ast.comprehension():
            return Clause("the condition in the loop were left out", "Take only those for which it holds.", 1)
    return None


def _turned(old: ast.AST, operator: ast.unaryop, say: Vocabulary) -> Clause:
    """Return the clause of a minus, or a "not", that does not belong there."""
    what = say.phrase(old)
    if isinstance(operator, ast.Invert):
        mask = what or "the mask"
        return Clause(f"{mask} were inverted", f"True and False in {mask} mean the opposite: use it as it is.", 0)
    if isinstance(operator, ast.Not):
        on = following("on", say.names(old))
        return Clause(f"the condition{on} were the other way round", "Turn the condition round.", 1)
    return Clause(f"the sign of {what or 'the result'} were the other way round", "Mind the minus sign.", 1)


def _plain(old: ast.UnaryOp, say: Vocabulary) -> Clause:
    """Return the clause of a minus, or a "not", that is missing."""
    if isinstance(old.op, ast.USub):
        what = say.term(old.operand) or "a term"
        return Clause(f"the sign of {what} were the other way round", "Mind the minus sign.", 0)
    on = following("on", say.names(old.operand))
    return Clause(f"the condition{on} were the other way round", "Turn the condition round.", 1)


def _comparison(old: ast.Compare, new: ast.AST, say: Vocabulary) -> Clause | None:
    if not isinstance(new, ast.Compare) or len(new.ops) != len(old.ops):
        return None
    pairs = zip(old.ops, new.ops, old.comparators, strict=True)
    was, now, right = next(((a, b, r) for a, b, r in pairs if a is not b), (None, None, None))
    if was is None or now is None:
        return None
    belongs, stood = SYMBOLS[type(was)], SYMBOLS[type(now)]
    sides = " with ".join(dict.fromkeys(filter(None, (say.phrase(old.left), say.phrase(right)))))
    where = f"the comparison of {sides}" if sides else "a comparison"
    return Clause(f"`{stood}` stood where `{belongs}` belongs in {where}", f"Use `{belongs}`.", 0)


def _condition(old: ast.BoolOp, new: ast.AST, say: Vocabulary) -> Clause:
    if isinstance(new, ast.BoolOp) and type(new.op) is not type(old.op):
        now, was = ("or", "and") if isinstance(new.op, ast.Or) else ("and", "or")
        return Clause(f"`{now}` stood where `{was}` belongs in a condition", f"Use `{was}`.", 1)
    kept = new.values if isinstance(new, ast.BoolOp) else [new]
    gone = next((value for value in old.values if value not in kept), None)
    on = following("on", say.names(gone) if gone else None)
    return Clause(f"{'the' if on else 'a'} condition{on} were left out", "Every condition counts.", 1)


def _order(old: ast.Tuple | ast.List, new: ast.AST, holder: ast.AST, say: Vocabulary) -> Clause | None:
    if not isinstance(new, (ast.Tuple, ast.List)) or type(new) is not type(old):
        return None
    names = pair_of([say.phrase(a) for a, b in zip(old.elts, new.elts, strict=False) if a is not b])
    if isinstance(holder, ast.Return):
        fix = "Return them in the order of the docstring."
        return Clause(f"{names or 'two results'} were returned in the other order", fix, 0)
    return Clause(f"{names or 'two entries'} stood in the other order", "Swap them.", 1)
