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
    stood, belongs = _quoted(old, new)
    if begins_later(old, new):
        said = f"{stood} were taken, the corner where the array begins, where {belongs} belongs"
        return Clause(said, f"Take {belongs}: the border lies on all sides.", 0)
    if isinstance(new, ast.Attribute) and new.attr == "T" and called(old) == called(new.value) == "reshape":
        said = f"{stood} were taken, which cuts the numbers into rows in another order, where a transpose belongs"
        return Clause(said, f"Write {belongs}.", 0)
    return _half(old, new) or _late(old, new, belongs) or _another_name(change)


def _half(old: ast.expr, new: ast.expr) -> Clause | None:
    """Return the clause of a whole row in a product, where the part on one side of the diagonal belongs."""
    match old, new:
        case (
            ast.BinOp(left=ast.Subscript(slice=ast.Name()) as row, op=ast.MatMult()),
            ast.BinOp(left=ast.Subscript(slice=ast.Tuple(elts=[_, ast.Slice(lower=lower)])), right=ast.Subscript()),
        ):
            side, [whole, belongs] = "before" if lower is None else "behind", _quoted(row, new)
            said = f"the whole row {whole} were multiplied, where only what stands {side} the diagonal belongs"
            return Clause(said, f"Write {belongs}." if belongs.startswith("`") else "Take that part of both.", 0)
    return None


def _quoted(*nodes: ast.expr) -> list[str]:
    """Return expressions as they are quoted: of long ones what is cut out of them, or only that they are others."""
    whole = [ast.unparse(each) for each in nodes]
    parts = [f"[{ast.unparse(each.slice).strip('()')}]" for each in nodes if isinstance(each, ast.Subscript)]
    for texts in (whole, parts):
        if len(texts) == len(nodes) and max(map(len, texts)) <= MOST_QUOTED:
            return [f"`{each}`" for each in texts]
    return ["this", "another"][: len(nodes)]


def _another_name(change: Change) -> Clause | None:
    """Return the clause of a name that belongs where a line sets, or compares with, a number."""
    old, new, holder = change.old, change.new, change.holder
    if not isinstance(old, ast.Constant) or not isinstance(new, ast.Name):
        return None
    if isinstance(holder, ast.Assign) and isinstance(holder.targets[0], ast.Name):
        said = f"{holder.targets[0].id} were set to {old.value!r}, where {new.id} belongs"
        return Clause(said, f"Use {new.id}.", 0)
    if isinstance(holder, ast.Compare) and old in holder.comparators and len(ast.unparse(holder.left)) <= MOST_QUOTED:
        said = f"{ast.unparse(holder.left)} were compared with {old.value!r}, where {new.id} belongs"
        return Clause(said, f"Compare it with {new.id}.", 0)
    return None


def begins_later(old: ast.expr, new: ast.expr) -> bool:
    """Say whether a part of an array begins further inside along several axes."""
    keys = [each.slice if isinstance(each, ast.Subscript) else None for each in (old, new)]
    ours, theirs = (each.elts if isinstance(each, ast.Tuple) else [] for each in keys)
    pairs = zip(ours, theirs, strict=False)
    later = [one for one, other in pairs if one is not other and isinstance(one, ast.Slice)]
    return len(later) > 1 and all(each.lower is None for each in later)


def _late(old: ast.expr, new: ast.expr, belongs: str) -> Clause | None:
    """Return the clause of a term that is added to a quotient, or subtracted, and belongs to what is divided."""
    inner = new.args[0] if isinstance(new, ast.Call) and len(new.args) == 1 else new
    if not isinstance(old, ast.BinOp) or not isinstance(inner, ast.BinOp) or not isinstance(inner.left, ast.BinOp):
        return None
    if not isinstance(inner.op, (ast.Div, ast.FloorDiv)) or inner.left.right is not old.right:
        return None
    if inner.left is old or not isinstance(old.op, (ast.Add, ast.Sub)):
        return None  # nothing was divided there
    done = "subtracted" if isinstance(old.op, ast.Sub) else "added"
    [term] = _quoted(old.right)
    return Clause(f"{term} were {done} after the division, where it belongs before", f"Write {belongs}.", 0)
