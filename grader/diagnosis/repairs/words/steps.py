"""What is said of a step that belongs elsewhere, is missing, or sets a value where it adds to one."""

from __future__ import annotations

import ast

from grader.diagnosis.slips.schema import Change
from grader.diagnosis.slips.wording.clause import Clause
from grader.diagnosis.slips.wording.phrases import Vocabulary
from grader.diagnosis.slips.wording.sentences import targets

MOST_QUOTED = 70  # characters
DONE = {ast.Add: "added to", ast.Sub: "subtracted from"}
STEPS = {  # what a learner did, where the step that sets something belongs elsewhere
    "reset": ("{} were set once, before the loop", "Set {} anew in every round."),
    "hoisted": ("{} were set back in every round of the loop", "Set {} once, before the loop."),
    "counted": ("{} were raised in every round of the loop", "Raise {} once, before the loop."),
    "after": ("the step that sets {} stood inside the loop", "Do it once, after the loop."),
    "guarded": ("the step that sets {} stood outside of the condition", "Do it only where the condition holds."),
    "freed": ("the step that sets {} stood under the condition", "Do it whether the condition holds or not."),
    "indented": ("the step that sets {} stood behind the loop", "Do it in every round of the loop."),
}


def order(change: Change, say: Vocabulary) -> Clause | None:
    """Return the clause of a step that belongs elsewhere: in another order, in a loop, under a condition."""
    body = change.new if isinstance(change.new, list) else []
    if change.kind == "return_after":
        return Clause("it returned after the first round of the loop", "Return after the loop.", 0)
    if change.kind == "late":
        loop = next((each for each in body if not any(each is other for other in held(change))), None)
        step = loop.body[-1] if isinstance(loop, (ast.For, ast.While)) else None
        text = "" if step is None else ast.unparse(step)
        if not 0 < len(text) <= MOST_QUOTED:
            return None
        return Clause(f"`{text}` came before the other steps of a round", "Do it at the end of each round.", 0)
    if change.kind in STEPS:
        inner = getattr(change.statement, "body", [change.statement])
        if change.kind == "counted":  # any line of the loop: it stands right before it now
            inner = [each for each in inner if any(each is other for other in body)]
        what = targets(inner[0 if change.kind == "hoisted" else -1], say) if inner else None
        said, fix = STEPS[change.kind]
        return Clause(said.format(what), fix.format(what), 1) if what else None
    if change.kind == "restarted":
        return _restarted(change)
    if change.kind != "order" or change.statement not in body:
        return None
    place = body.index(change.statement)
    first, second = targets(change.statement, say), targets(body[place - 1], say) if place else None
    if not first or not second or first == second:
        return Clause("two steps were done in the other order", "Look at which value each step needs.", 2)
    return Clause(f"{first} were computed before {second} had its new value", f"Compute {second} first.", 1)


def _restarted(change: Change) -> Clause | None:
    """Return the clause of a name with which a round goes on from what the round before it left there."""
    body = change.new if isinstance(change.new, list) else []
    kept = next((each for each in body if isinstance(each, ast.Assign) and each not in held(change)), None)
    value = getattr(kept, "value", None)
    name = getattr(getattr(value, "left", value), "id", "")
    said = f"each round of the loop went on from the {name} that the round before had left"
    return Clause(said, f"Begin every round with the {name} from before the loop.", 0) if name else None


def held(change: Change) -> list[ast.stmt]:
    """Return the statements of what holds a change, as they are."""
    return [*getattr(change.holder, "body", []), *getattr(change.holder, "orelse", [])]


def line(change: Change, say: Vocabulary) -> Clause | None:
    """Return the clause of a line that is missing beside one of its kind."""
    body = change.new if isinstance(change.new, list) else []
    line = next((each for each in body if not any(each is other for other in held(change))), None)
    what = None if line is None else targets(line, say) or say.phrase(getattr(line, "value", line))
    if what is None:
        return None
    like = targets(change.statement, say) or "the line before"
    if what == like and (apart := _apart(line, change.statement)):  # two calls of one function
        what, like = apart
    fix = f"Write for {what} the line that {like} has."
    return Clause(f"the line for {what} beside that for {like} were left out", fix, 1)


def _apart(line: ast.AST | None, other: ast.AST) -> tuple[str, str] | None:
    """Return the last argument of a call that differs from that of another one, and the other's."""
    ours, theirs = (getattr(getattr(each, "value", None), "args", []) for each in (line, other))
    differing = [(ast.unparse(a), ast.unparse(b)) for a, b in zip(ours, theirs, strict=False)]
    return next(((a, b) for a, b in reversed(differing) if a != b), None)


def assignment(change: Change, say: Vocabulary) -> Clause | None:
    """Return the clause of a value that is set where it is added to, or the other way round."""
    what = targets(change.statement, say) or "the running value"
    if change.kind == "accumulates":
        return Clause(f"{what} were added to instead of replaced", "Set it with `=`.", 0)
    operator = change.new.op if isinstance(change.new, ast.AugAssign) else ast.Add()
    sign = "+=" if isinstance(operator, ast.Add) else "-="
    said = f"{what} were replaced instead of {DONE.get(type(operator), 'updated')}"
    return Clause(said, f"Update it with `{sign}`.", 0)
