"""What is said of a step in another line, a first value that is no zero, a scale without limit, places for numbers."""

from __future__ import annotations

import ast

from grader.diagnosis.repairs.kinds.misplaced import DRAWN
from grader.diagnosis.repairs.words.draws import draws
from grader.diagnosis.repairs.words.steps import held
from grader.diagnosis.slips.schema import Change
from grader.diagnosis.slips.wording.clause import Clause
from grader.diagnosis.slips.wording.phrases import Vocabulary, called, constant_of
from grader.diagnosis.slips.wording.sentences import targets
from grader.diagnosis.trees import walk

MOST_QUOTED = 70  # characters


def likewise(change: Change, say: Vocabulary) -> Clause | None:
    """Return the clause of such a change; None for another one."""
    if change.kind == "afresh":
        return _afresh(change)
    if change.kind == "moved":
        return _moved(change, say)
    if not isinstance(change.old, ast.expr) or not isinstance(change.new, ast.expr):
        return None
    stood = ast.unparse(change.old)
    if len(stood) > MOST_QUOTED:
        return draws(change, say)
    return (
        _begun(change, stood, say)
        or _capped(change.old, change.new, stood)
        or _looked_up(change.old, change.new)
        or _drawn(change)
        or draws(change, say)
    )


def _afresh(change: Change) -> Clause | None:
    """Return the clause of an argument that is changed in place."""
    old, new = change.old, change.new
    body = new if isinstance(new, list) else []
    made = next((each for each in body if not any(each is other for other in held(change))), None)
    name = ast.unparse(old.target) if isinstance(old, ast.AugAssign) else ""
    text = f"{name} = {ast.unparse(made.value)}" if isinstance(made, ast.Assign) else ""
    if not name or not 0 < len(text) <= MOST_QUOTED:
        return None
    return Clause(f"{name}, which was handed in, were changed in place", f"Make it anew: `{text}`.", 0)


def _moved(change: Change, say: Vocabulary) -> Clause | None:
    """Return the clause of a step that is done in one line and belongs in another."""
    body = change.new if isinstance(change.new, list) else []
    pairs = [(old, new) for old, new in zip(held(change), body, strict=False) if old is not new]
    here = next((new for old, new in pairs if old is change.statement), None)
    there = next((old for old, _ in pairs if old is not change.statement), None)
    if here is None or there is None:
        return None
    kept = [ast.unparse(each) for each in walk(here) if isinstance(each, ast.Call)]
    gone = [each for each in walk(change.statement) if isinstance(each, ast.Call) and ast.unparse(each) not in kept]
    step = next((called(each) for each in gone if called(each)), "")
    places = [targets(each, say) or "the result" for each in (change.statement, there)]
    if not step or places[0] == places[1]:
        return None
    said = f"`{step}` were applied where {places[0]} is made, and belongs where {places[1]} is made"
    return Clause(said, f"Apply it to {places[1]} instead.", 0)


def _begun(change: Change, stood: str, say: Vocabulary) -> Clause | None:
    """Return the clause of a first value that is not zero."""
    new, is_first = change.new, isinstance(change.holder, (ast.Assign, ast.DictComp, ast.Call))
    is_zeros = isinstance(new, ast.BinOp) and isinstance(new.op, ast.Mult) and constant_of(new.left) == 0
    is_zeros = is_zeros and isinstance(new, ast.BinOp) and new.right is change.old
    is_zero = isinstance(new, ast.Constant) and new.value == 0.0 and isinstance(change.old, (ast.Call, ast.BinOp))
    if not is_first or not (is_zeros or is_zero):
        return None
    zero = "zeros" if is_zeros else "0"
    what = targets(change.statement, say) or "a value"
    return Clause(f"{what} began with `{stood}`, where it begins with {zero}", f"Begin with {zero}.", 0)


def _capped(old: ast.expr, new: ast.expr, stood: str) -> Clause | None:
    """Return the clause of a scale that may be more than 1."""
    if called(new) != "min" or not isinstance(new, ast.Call) or len(new.args) != 2 or new.args[1] is not old:
        return None
    return Clause(f"`{stood}` were taken even where it is more than 1", f"Take at most 1: `min(1.0, {stood})`.", 0)


def _looked_up(old: ast.expr, new: ast.expr) -> Clause | None:
    """Return the clause of places in an array, in the place of what stands there."""
    if not isinstance(new, ast.Subscript) or new.slice is not old or not isinstance(new.value, ast.Name):
        return None
    name = new.value.id
    said = f"the places in {name} were used, where the numbers that stand there belong"
    return Clause(said, f"Look them up: `{name}[…]`.", 0)


def _drawn(change: Change) -> Clause | None:
    """Return the clause of numbers that are drawn from 0 on, where they lie on both sides of it."""
    new = change.new
    is_bound = isinstance(change.holder, ast.Call) and called(change.holder) in DRAWN and constant_of(change.old) == 0
    if not is_bound or not isinstance(new, ast.UnaryOp) or not isinstance(new.op, ast.USub):
        return None
    limit = ast.unparse(new.operand)
    return Clause(
        f"numbers were drawn from 0 on, where they begin at -{limit}", f"Draw between -{limit} and {limit}.", 0
    )
