"""The sentence of a change: clauses for statements here, those for expressions beside it."""

from __future__ import annotations

import ast

from grader.diagnosis.slips.schema import Change
from grader.diagnosis.slips.wording.clause import Clause, following
from grader.diagnosis.slips.wording.expressions import expression
from grader.diagnosis.slips.wording.nouns import SYMBOLS
from grader.diagnosis.slips.wording.phrases import Vocabulary, called, constant_of, key_of


def clause(change: Change, say: Vocabulary) -> Clause | None:
    """Return what a change says; None for one that has no words, such as another class of exception."""
    if change.kind:
        return _moved(change, say)
    if isinstance(change.old, ast.stmt):
        return statement(change.old, change.new, say)
    return expression(change.old, change.new, change.holder, say) if isinstance(change.new, ast.AST) else None


def targets(node: ast.AST, say: Vocabulary) -> str | None:
    """Return what a statement sets, or calls."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    if isinstance(node, ast.Expr):
        return called(node.value) or None
    flat = [part for each in targets for part in (each.elts if isinstance(each, ast.Tuple) else [each])]
    found = [say.phrase(_load(each)) for each in flat if each is not None]
    return " and ".join(dict.fromkeys(filter(None, found))) or None


def _load(node: ast.AST) -> ast.AST:
    """Return the array or dict that a target is a part of; a key of a dict has a name of its own."""
    while isinstance(node, ast.Subscript) and not key_of(node):
        node = node.value
    return node


def _moved(change: Change, say: Vocabulary) -> Clause | None:
    what = targets(change.old if isinstance(change.old, ast.Assign) else change.statement, say)
    match change.kind:
        case "ignored" | "inverted" | "transposed" | "exchanged" | "fixed":
            return _argument(change)
        case "order":
            body = change.new if isinstance(change.new, list) else []
            place = body.index(change.statement)
            other = targets(body[place - 1], say) if place else None
            if not what or not other:
                return Clause("two steps were done in the other order", "Look at which value each step needs.", 2)
            return Clause(f"{other} were computed before {what} had its new value", f"Compute {what} first.", 1)
        case "reset":
            return Clause(
                f"{what or 'the running value'} were set back in every round of the loop",
                "Set it once, before the loop.",
                1,
            )
        case "return_within":
            return Clause("it returned after the first round of the loop", "Return after the loop.", 1)
        case "overwrites":
            operator = SYMBOLS[type(change.old.op)] if isinstance(change.old, ast.AugAssign) else "+"
            done = {"+": "added to", "-": "subtracted from"}.get(operator, "updated")
            said = f"{what or 'the running value'} were replaced each time instead of {done}"
            return Clause(said, f"Update it with `{operator}=`.", 0)
        case "accumulates":
            return Clause(f"{what or 'an entry'} were added to instead of replaced", "Set it with `=`.", 1)
        case "indented":
            return Clause(
                f"the step that sets {what or 'the result'} stood inside the loop", "Do it once, after the loop.", 1
            )
        case "after":
            return Clause("the last step of the loop were done once, after the loop", "Do it in every round.", 1)
    return None


def _argument(change: Change) -> Clause:
    """Return the clause of an argument that arrives in another form than it should."""
    target, new = change.old, change.new
    if isinstance(target, ast.Tuple):
        first, second = (each.id for each in target.elts if isinstance(each, ast.Name))
        return Clause(
            f"{first} and {second} were confused throughout", f"Use {first} and {second} each in its own place.", 1
        )
    name = target.id if isinstance(target, ast.Name) else "an argument"
    match change.kind:
        case "ignored":
            return Clause(f"{name} were ignored", f"Use {name} as it is given.", 0)
        case "inverted":
            return Clause(f"{name} were inverted", f"True and False in {name} mean the opposite: use it as it is.", 1)
        case "transposed":
            return Clause(f"{name} were transposed throughout", f"Use {name} as it is.", 2)
    value = constant_of(new.value) if isinstance(new, ast.Assign) else "the same"
    return Clause(f"{name} were always {value}, whatever is passed", f"Use {name}.", 2)


def statement(old: ast.stmt, new: object, say: Vocabulary) -> Clause | None:
    """Return the clause of a statement for which another stands."""
    if isinstance(new, ast.Pass):
        return _left_out(old, say)
    if isinstance(old, ast.AugAssign) and isinstance(new, ast.AugAssign):
        what = targets(old, say) or "the running value"
        add = isinstance(old.op, ast.Add)
        if isinstance(old.op, (ast.Add, ast.Sub)) and isinstance(new.op, (ast.Add, ast.Sub)):
            said = f"{what} were {'reduced' if add else 'increased'} instead of {'increased' if add else 'reduced'}"
            return Clause(said, "Mind the sign.", 0)
        done = ("divided", "multiplied") if isinstance(old.op, ast.Mult) else ("multiplied", "divided")
        plain = isinstance(old.op, (ast.Mult, ast.Div)) and isinstance(new.op, (ast.Mult, ast.Div))
        said = f"{what} were {done[0]} instead of {done[1]}" if plain else f"{what} were changed by another operation"
        return Clause(said, "Mind the operator.", 1)
    if isinstance(old, ast.If) and isinstance(new, ast.If):
        return _branch(old, new, say)
    if isinstance(old, (ast.For, ast.While)):
        return Clause("the loop did not run at all", "Look at what it goes over.", 1)
    return None


def _left_out(old: ast.stmt, say: Vocabulary) -> Clause | None:
    what = targets(old, say)
    if isinstance(old, ast.AugAssign):
        amount = say.phrase(old.value)
        done = {ast.Add: "added to", ast.Sub: "subtracted from"}.get(type(old.op))
        if done and what:
            return Clause(f"{amount or 'nothing'} were {'not ' if amount else ''}{done} {what}", f"Update {what}.", 0)
        return Clause(f"a change of {what or 'the running value'} were left out", f"Update {what or 'it'}.", 0)
    if isinstance(old, (ast.Continue, ast.Break)):
        fix = "Go on with the next round there." if isinstance(old, ast.Continue) else "End the loop there."
        return Clause(f"`{type(old).__name__.lower()}` were left out of a loop", fix, 1)
    if isinstance(old, ast.Expr):
        return Clause(
            f"{what} were not called" if what and what in say.words else "a step were left out", "Do that step, too.", 0
        )
    return Clause(
        f"the step that sets {what} were left out" if what else "a step were left out",
        f"Set {what}." if what else "Do that step, too.",
        0,
    )


def _branch(old: ast.If, new: ast.If, say: Vocabulary) -> Clause | None:
    known = say.names(old.test)
    if isinstance(old.body[0], ast.Raise):
        return Clause(f"nothing checked {known or 'its arguments'}", "Raise what the docstring names.", 0)
    case = f"the special case for {known}" if known else "a special case"
    if isinstance(new.test, ast.Constant):
        if new.test.value:
            return Clause(f"{case} were always taken", "Take it only where its condition holds.", 1)
        return Clause(f"{case} were left out", "Treat that case on its own.", 0)
    on = following("on", known)
    if new.orelse != old.orelse:
        return Clause(f"the `else` of the condition{on} were left out", "Treat both cases.", 1)
    return Clause(f"the condition{on} were the other way round", "Turn the condition round.", 1)
