"""What is said of parts and rows of an array: a corner for the middle, a reshape for a transpose, a late division."""

from __future__ import annotations

import ast

from grader.diagnosis.slips.schema import Change
from grader.diagnosis.slips.wording.clause import Clause
from grader.diagnosis.slips.wording.phrases import called

MOST_QUOTED = 60  # characters


def block(change: Change) -> Clause | None:
    """Return the clause of such a part or division; None for another change."""
    old, new = change.old, change.new
    if not isinstance(old, ast.expr) or not isinstance(new, ast.expr):
        return None
    stood, belongs = ast.unparse(old), ast.unparse(new)
    if max(len(stood), len(belongs)) > MOST_QUOTED:
        return None
    if begins_later(old, new):
        said = f"`{stood}` were taken, the corner where the array begins, where `{belongs}` belongs"
        return Clause(said, f"Take `{belongs}`: the border lies on all sides.", 0)
    if isinstance(new, ast.Attribute) and new.attr == "T" and called(old) == called(new.value) == "reshape":
        said = f"`{stood}` were taken, which cuts the numbers into rows in another order, where a transpose belongs"
        return Clause(said, f"Write `{belongs}`.", 0)
    return _late(old, new)


def begins_later(old: ast.expr, new: ast.expr) -> bool:
    """Say whether a part of an array begins further inside along several axes."""
    keys = [each.slice if isinstance(each, ast.Subscript) else None for each in (old, new)]
    ours, theirs = (each.elts if isinstance(each, ast.Tuple) else [] for each in keys)
    pairs = zip(ours, theirs, strict=False)
    later = [one for one, other in pairs if one is not other and isinstance(one, ast.Slice)]
    return len(later) > 1 and all(each.lower is None for each in later)


def _late(old: ast.expr, new: ast.expr) -> Clause | None:
    """Return the clause of a term that is added to a quotient, or subtracted, and belongs to what is divided."""
    inner = new.args[0] if isinstance(new, ast.Call) and len(new.args) == 1 else new
    if not isinstance(old, ast.BinOp) or not isinstance(inner, ast.BinOp) or not isinstance(inner.left, ast.BinOp):
        return None
    if not isinstance(inner.op, (ast.Div, ast.FloorDiv)) or inner.left.right is not old.right:
        return None
    done = "subtracted" if isinstance(old.op, ast.Sub) else "added"
    term = ast.unparse(old.right)
    return Clause(f"{term} were {done} after the division, where it belongs before", f"Write `{ast.unparse(new)}`.", 0)
