"""What is said of limits: a loop one round short, a division by 0, a maximum of nothing, a dtype, one of two cases."""

from __future__ import annotations

import ast

from grader.course.changes import replaced
from grader.diagnosis.repairs.kinds.silent import EXTREMES, is_made_finite
from grader.diagnosis.slips.schema import Change
from grader.diagnosis.slips.statements import SIMPLE
from grader.diagnosis.slips.wording.calls import call
from grader.diagnosis.slips.wording.clause import Clause
from grader.diagnosis.slips.wording.nouns import NOUNS
from grader.diagnosis.slips.wording.phrases import Vocabulary, called, constant_of
from grader.diagnosis.trees import walk

MOST_QUOTED = 60  # characters


def rounds(change: Change) -> Clause | None:
    """Return the clause of a bound of a range that is one too low or too high; None for another change."""
    holder, old, new = change.holder, change.old, change.new
    if not isinstance(holder, ast.Call) or called(holder) != "range" or not isinstance(new, ast.expr):
        return None
    whole = next((each for each in (old, new) if isinstance(each, ast.BinOp) and constant_of(each.right) == 1), None)
    if not isinstance(whole, ast.BinOp) or not any(whole.left is each for each in (old, new)):
        longer, shorter = (old, new) if isinstance(old, ast.BinOp) else (new, old)
        is_part = isinstance(longer, ast.BinOp) and any(each is shorter for each in walk(longer))
        return _last_part(holder, old, new) if is_part else None
    right = replaced(holder, args=[new if each is old else each for each in holder.args])
    place = next(n for n, each in enumerate(holder.args) if each is old)
    is_end = place == (0 if len(holder.args) == 1 else 1)
    return call(right, holder, Vocabulary(frozenset())) if is_end else None


def _last_part(holder: ast.Call, old: ast.AST, new: ast.AST) -> Clause | None:
    """Return the clause of a range in steps that ends a step earlier, or later, than it should."""
    stood, belongs = ast.unparse(old), ast.unparse(new)
    if len(holder.args) < 3 or holder.args[1] is not old or max(len(stood), len(belongs)) > MOST_QUOTED:
        return None
    said = "the last part were dropped where it is shorter" if belongs in stood else "a last, shorter part were taken"
    return Clause(f"{said}: the range ends at `{stood}`, where `{belongs}` belongs", f"Write `{belongs}`.", 0)


def limits(change: Change, say: Vocabulary) -> Clause | None:
    """Return the clause of what NumPy does without a word; None for another change."""
    old, new = change.old, change.new
    if isinstance(old, ast.BinOp) and isinstance(new, ast.AST) and is_made_finite(old, new):
        return _no_number(old)
    if isinstance(new, ast.Call) and called(new) == "where" and len(new.args) == 3 and new.args[2] is old:
        mask, number = map(ast.unparse, new.args[:2])
        what = say.phrase(old) or "the values"
        return Clause(f"{mask} were never used", f"Where it is true, {what} has to be {number.removeprefix('np.')}.", 0)
    if not isinstance(old, ast.Call) or not isinstance(new, ast.Call):
        return None
    if called(new) == f"{called(old)}_like":
        what = say.phrase(new.args[0]) or "the array"
        said = f"{NOUNS.get(called(old), 'an array')} were float64, whatever the dtype of {what}"
        return Clause(said, f"Use `np.{called(new)}`.", 0)
    if new.func is not old.func:
        return None
    more = [each for each in new.keywords if not any(each is other for other in old.keywords)]
    if len(more) != 1 or len(new.keywords) != len(old.keywords) + 1:
        return None
    what = _of(old, say)
    if more[0].arg == "initial" and called(old) in EXTREMES:
        noun = NOUNS.get(called(old).removeprefix("a"), "the largest")
        said = f"{noun} of {what} were taken where it is empty, too"
        return Clause(said, "Give `initial=0`, or treat what has no entries first.", 0)
    if more[0].arg == "dtype":
        said = f"{what} kept its dtype, where float64 belongs: integers lose what stands behind the point"
        return Clause(said, "Give `dtype=float`.", 1)
    return None


def _of(old: ast.Call, say: Vocabulary) -> str:
    own = isinstance(old.func, ast.Attribute) and getattr(old.func.value, "id", "") != "np"
    source = old.func.value if own and isinstance(old.func, ast.Attribute) else old.args[0] if old.args else None
    return say.phrase(source) or "an array"


def _no_number(old: ast.BinOp) -> Clause | None:
    text = ast.unparse(old)
    if len(text) > MOST_QUOTED:
        return None
    if isinstance(old.op, ast.Div):
        divisor = ast.unparse(old.right)
        said = f"nothing kept `{text}` from a division by 0, where the result is 0"
        return Clause(said, f"Divide only where `{divisor}` is not 0.", 0)
    said = f"`{text}` were taken at 0, too, where 0 times the logarithm of 0 is no number and 0 belongs"
    return Clause(said, "Leave those entries 0.", 0)


def mirrored(old: ast.If, more: ast.stmt) -> Clause | None:
    """Return the clause of one of two cases that are alike and of which the other is missing."""
    if not isinstance(more, ast.If):
        return None
    one, other = ast.unparse(old.test), ast.unparse(more.test)
    if max(len(one), len(other)) > MOST_QUOTED:
        return None
    said = f"the case `{one}` were treated alone, and `{other}` were not"
    return Clause(said, f"Write the same case for `{other}`.", 0)


def one_case(old: ast.IfExp, kept: ast.AST) -> Clause | None:
    """Return the clause of what holds in every case and is taken in one alone."""
    value, test = ast.unparse(kept), ast.unparse(old.test)
    if kept is old.test or max(len(value), len(test)) > MOST_QUOTED:
        return None
    only = "only where" if kept is old.body else "only where it is not so that"
    return Clause(f"`{value}` were taken {only} `{test}`", "Take it in every case.", 0)


def always(old: ast.stmt, holds: bool) -> Clause | None:
    """Return the clause of steps that do not depend on a condition, or of an end that is too early."""
    if not isinstance(old, ast.If) or len(text := ast.unparse(old.test)) > MOST_QUOTED:
        return None
    if old.orelse:
        return None
    if holds:
        what = "; ".join(map(ast.unparse, old.body))
        if len(what) > MOST_QUOTED or not all(isinstance(each, SIMPLE) for each in old.body):
            return None
        return Clause(f"`{what}` were done only if `{text}`", "Do it in any case.", 0)
    last = old.body[-1]
    if isinstance(last, ast.Break):
        return Clause(f"the loop ended as soon as `{text}`", "Go on with the other rounds.", 0)
    if isinstance(last, ast.Continue):
        return Clause(f"rounds were left out in which `{text}`", "Do the round's steps there, too.", 0)
    return None
