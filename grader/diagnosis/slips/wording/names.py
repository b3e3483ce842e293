"""Clauses for names, attributes and parts of arrays for which something else stands."""

from __future__ import annotations

import ast
import re

from grader.diagnosis.slips.wording.clause import Clause
from grader.diagnosis.slips.wording.nouns import NOUNS
from grader.diagnosis.slips.wording.phrases import Vocabulary, called, constant_of


def name(old: ast.expr, new: ast.AST, holder: ast.AST, say: Vocabulary) -> Clause | None:
    """Return the clause of a name for which something else stands; None for a change without words."""
    was, now = say.phrase(old), say.phrase(new)
    if isinstance(new, ast.Constant) and isinstance(new.value, (int, float)) and not isinstance(new.value, bool):
        said = f"{was or 'a value'} were always {now}, whatever is passed"
        return Clause(said, f"Use {was or 'what is passed'}.", 1)
    if isinstance(holder, ast.Call) and (holder.func is old or (holder.func is new and isinstance(new, ast.Attribute))):
        return _function(old, new)
    if isinstance(new, ast.Constant) and new.value is None:
        function = called(holder) if isinstance(holder, ast.Call) else ""
        into = f"did not reach {function}" if function in say.functions else "were not passed on"
        return Clause(f"{was or 'an argument'} {into}", f"Pass {was or 'it'} on.", 0)
    if called(new) == "swapaxes":
        return Clause(f"{was or 'the result'} were transposed", "Mind the order of its axes.", 1)
    if isinstance(old, ast.Attribute) and old.attr == "T" and new is old.value:
        return Clause(f"{now or 'an array'} were not transposed", f"Transpose {now or 'it'}.", 0)
    if isinstance(new, ast.BinOp) and new.left is old:
        return _reckoned(new, was)
    return _confused(was, now)


def _function(old: ast.expr, new: ast.AST) -> Clause | None:
    was, now = (str(getattr(each, "attr", getattr(each, "id", ""))) for each in (old, new))
    wanted, taken = NOUNS.get(was, was), NOUNS.get(now, now)
    if isinstance(old, ast.Attribute) and new is old.value:
        return Clause(f"{wanted} were left out", f"Apply `{was}`.", 0)
    if wanted.startswith("_") or taken.startswith("_"):
        return None
    verb, fix = ("called", "Call") if "`" in wanted or was == wanted else ("taken", "Take")
    return Clause(f"{taken} were {verb} instead of {wanted}", f"{fix} {wanted}.", 0)


def _reckoned(new: ast.BinOp, was: str | None) -> Clause | None:
    """Return the clause of a number that was rooted, squared, or changed by 1."""
    if isinstance(new.op, ast.Pow):
        taken = "the square root" if constant_of(new.right) == 0.5 else "the square"
        said = f"{taken} of {was or 'a number'} stood where {was or 'the number'} itself belongs"
        return Clause(said, f"Use {was or 'it'} as it is.", 1)
    sign = "+" if isinstance(new.op, ast.Add) else "-"
    return Clause(f"{was} {sign} 1 stood where {was} belongs", f"Use {was}.", 2) if was else None


def are_kin(one: str, other: str) -> bool:
    """Say whether two names are easily confused: short both, or with a part in common, as grad_Q and grad_K."""
    if len(one) <= 2 and len(other) <= 2:
        return True
    parts = [set(re.findall(r"[A-Za-z]+|\d+", each)) for each in (one, other)]
    return bool(parts[0] & parts[1])


def _confused(was: str | None, now: str | None) -> Clause | None:
    if was and now:
        if was == now:
            return None
        return Clause(f"{now} were used where {was} belongs", f"Use {was} there.", 0 if are_kin(was, now) else 1)
    if was:
        return Clause(f"another value were used where {was} belongs", f"Use {was} there.", 2)
    return Clause(f"{now} were used where another value belongs", "Follow the formula.", 2) if now else None
