"""Clauses for changed constants: numbers of a formula, axes, indices, keywords and keys."""

from __future__ import annotations

import ast

from grader.diagnosis.slips.wording.clause import Clause, following
from grader.diagnosis.slips.wording.nouns import axis_named
from grader.diagnosis.slips.wording.phrases import Vocabulary, called, constant_of, is_library

MOVING = {"swapaxes": "swapped", "moveaxis": "moved", "transpose": "moved", "rollaxis": "moved", "expand_dims": "added"}


def constant(old: ast.AST, new: ast.AST, holder: ast.AST, say: Vocabulary) -> Clause | None:
    """Return the clause of a constant for which another stands; None for one without words."""
    was, now = constant_of(old), constant_of(new)
    if isinstance(holder, ast.keyword):
        return _keyword(str(holder.arg), was, now)
    if isinstance(was, str):
        return _text(was, now)
    if now is None and not (isinstance(new, ast.Constant) and new.value is None):
        return None
    if isinstance(holder, ast.Subscript):
        return _index(holder, was, now, say)
    if isinstance(holder, ast.Call) and (done := MOVING.get(called(holder))):
        own = isinstance(holder.func, ast.Attribute) and not is_library(holder.func.value)
        array = holder.func.value if own and isinstance(holder.func, ast.Attribute) else holder.args[0]
        of = following("to" if done == "added" else "of", say.phrase(array))
        return Clause(f"axis {now}{of} were {done} instead of axis {was}", f"Mind the axes: {was} belongs there.", 1)
    if isinstance(holder, ast.Slice):
        bound = {id(holder.lower): "began at", id(holder.upper): "ended at"}.get(id(old), "took steps of")
        return Clause(f"a slice {bound} {now} instead of {was}", "Look at its bounds.", 1)
    if isinstance(was, bool) or isinstance(now, bool):
        return Clause(f"{now} stood where {was} belongs", f"Use {was}.", 1)
    rank = 1 if _is_near(was, now) else 2
    return Clause(f"{_number(now)} stood where the formula has {_number(was)}", f"Use {_number(was)} there.", rank)


def _keyword(argument: str, was: object, now: object) -> Clause:
    if argument not in ("axis", "axes"):
        return Clause(f"{argument} were {now!r} instead of {was!r}", f"Give `{argument}={was!r}`.", 1)
    if isinstance(now, int) and not isinstance(now, bool):
        said = f"it worked along {axis_named(now)} instead of {axis_named(was)}"
        return Clause(said, f"Take {axis_named(was)}.", 0)
    said = f"it worked on the whole array at once instead of along {axis_named(was)}"
    return Clause(said, f"Give `{argument}={was}`.", 0)


def _text(was: str, now: object) -> Clause | None:
    """Return the clause of a key that was confused with another; None for one that nobody has."""
    if isinstance(now, str) and now.rstrip("_") == was:
        return None
    return Clause(f"{now} were used where {was} belongs", f"Use {was} there.", 0)


def _index(holder: ast.Subscript, was: object, now: object, say: Vocabulary) -> Clause:
    if isinstance(holder.value, ast.Attribute) and holder.value.attr == "shape":
        of = following("of", say.phrase(holder.value.value))
        said = f"the size of {axis_named(now)}{of} were taken instead of that of {axis_named(was)}"
        return Clause(said, f"Take the size of {axis_named(was)}.", 0)
    of = following("of", say.phrase(holder.value))
    return Clause(f"index {now}{of} were used where index {was} belongs", f"Use index {was}.", 1)


def _is_near(was: object, now: object) -> bool:
    """Say whether one number is easily written for another: ten times as much, half, one more, the other sign."""
    if not isinstance(was, (int, float)) or not isinstance(now, (int, float)):
        return False
    return now in (0, was * 10, was / 10, was * 2, was / 2, -was) or abs(now - was) == 1


def _number(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
