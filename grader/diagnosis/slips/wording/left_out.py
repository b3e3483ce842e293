"""Clauses for an operation of which one side was left out: a term not added, a factor missing, a root not taken."""

from __future__ import annotations

import ast
from dataclasses import replace

from grader.diagnosis.slips.wording.clause import Clause, following
from grader.diagnosis.slips.wording.phrases import Vocabulary, constant_of

BOTH = "Both conditions count."
POWERS = {0.5: "the square root of {} were not taken", 2: "{} were not squared", -0.5: "1 / √ of {} were not taken"}


def one_side(old: ast.BinOp, kept: ast.expr, say: Vocabulary) -> Clause | None:
    """Return the clause of an operation with one operand only; a less likely one where it cannot name the other."""
    gone = old.right if kept is old.left else old.left
    stays, lost = say.phrase(kept), say.phrase(gone)
    missing = lost or say.term(gone)
    clause = _without(old, kept is old.left, stays, missing)
    return clause if clause is None or lost else replace(clause, rank=clause.rank + 1)


def _without(old: ast.BinOp, is_left_kept: bool, stays: str | None, missing: str | None) -> Clause | None:
    match old.op:
        case ast.Add():
            said = f"{missing or 'a term'} were not added{following('to', stays)}"
            return Clause(said, f"Add {missing or 'the missing term'}.", 0)
        case ast.Mult():
            return Clause(_factor(stays, missing), f"Multiply by {missing or 'what belongs there'}.", 0)
        case ast.MatMult():
            said = f"the matrix product with {missing or 'a matrix'} were left out"
            return Clause(said, f"Multiply by {missing or 'what belongs there'}.", 0)
        case ast.BitAnd() | ast.BitOr():
            return Clause(f"{f'the condition {missing}' if missing else 'a condition'} were left out", BOTH, 1)
    return _without_right(old, stays, missing) if is_left_kept else _without_left(old, stays, missing)


def _factor(stays: str | None, missing: str | None) -> str:
    if missing:
        return f"{stays} were not multiplied by {missing}" if stays else f"the factor {missing} were left out"
    return "a factor were left out" + (f", and only {stays} were kept" if stays else "")


def _without_right(old: ast.BinOp, stays: str | None, missing: str | None) -> Clause | None:
    match old.op:
        case ast.Sub():
            said = f"{missing or 'a term'} were not subtracted{following('from', stays)}"
            return Clause(said, f"Subtract {missing or 'the missing term'}.", 0)
        case ast.Div():
            said = f"{stays} were not divided{following('by', missing)}" if stays else "the division were left out"
            if missing and not stays:
                said = f"the division by {missing} were left out"
            return Clause(said, f"Divide by {missing or 'what belongs there'}.", 0)
        case ast.Pow():
            form = "{} were not raised to the power " + (missing or "that belongs there")
            power = constant_of(old.right)
            form = POWERS.get(power, form) if isinstance(power, (int, float)) else form
            return Clause(form.format(stays or "a value"), "Take that power.", 0)
    return None


def _without_left(old: ast.BinOp, stays: str | None, missing: str | None) -> Clause | None:
    match old.op:
        case ast.Sub():
            kept = stays or "what is subtracted"
            said = f"{missing or f'what {stays or kept} is subtracted from'} were left out, and only {kept} were kept"
            return Clause(said if missing or stays else "only what is subtracted were kept", _start(missing), 1)
        case ast.Div():
            return Clause(f"only the divisor{f', {stays},' if stays else ''} were kept", "Divide by it.", 2)
    return None


def _start(missing: str | None) -> str:
    return f"Start from {missing or 'what it is subtracted from'}."
