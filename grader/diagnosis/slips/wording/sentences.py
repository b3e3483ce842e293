"""The sentence of a change: clauses for statements here, those for expressions beside it."""

from __future__ import annotations

import ast

from grader.diagnosis.slips.schema import Change
from grader.diagnosis.slips.wording.clause import Clause
from grader.diagnosis.slips.wording.expressions import expression
from grader.diagnosis.slips.wording.phrases import Vocabulary, called


def clause(change: Change, say: Vocabulary) -> Clause | None:
    """Return what a change says; None for one that has no words, such as another class of exception."""
    if change.kind:
        return _moved(change, say)
    if isinstance(change.old, ast.stmt):
        return _statement(change.old, change.new, say)
    return expression(change.old, change.new, change.holder, say) if isinstance(change.new, ast.AST) else None


def _targets(node: ast.AST, say: Vocabulary) -> str | None:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    if isinstance(node, ast.Expr):
        return called(node.value) or None
    flat = [part for each in targets for part in (each.elts if isinstance(each, ast.Tuple) else [each])]
    found = [say.phrase(_load(each)) for each in flat if each is not None]
    return " and ".join(dict.fromkeys(filter(None, found))) or None


def _load(node: ast.AST) -> ast.AST:
    while isinstance(node, ast.Subscript) and not (
        isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
    ):
        node = node.value
    return node


def _moved(change: Change, say: Vocabulary) -> Clause | None:
    what = _targets(change.old if isinstance(change.old, ast.Assign) else change.statement, say)
    match change.kind:
        case "ignored" | "inverted" | "transposed" | "exchanged" | "fixed":
            return _argument(change)
        case "order":
            body = change.new if isinstance(change.new, list) else []
            place = body.index(change.statement)
            other = _targets(body[place - 1], say) if place else None
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
            return Clause(
                f"{what or 'the running value'} were replaced each time instead of added to", "Add to it with `+=`.", 0
            )
        case "accumulates":
            return Clause(f"{what or 'an entry'} were added to instead of replaced", "Set it with `=`.", 1)
        case "indented":
            return Clause(
                f"the step that sets {what or 'the result'} stood inside the loop", "Do it once, after the loop.", 1
            )
        case "after":
            return Clause("the last step of the loop were done once, after the loop", "Do it in every round.", 1)
    return None


def _argument(change: Change) -> Clause | None:
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
    value = ast.unparse(new.value) if isinstance(new, ast.Assign) else "another value"
    return Clause(f"{value} stood for {name}, whatever is given", f"Use {name}.", 2)


def _statement(old: ast.stmt, new: object, say: Vocabulary) -> Clause | None:
    if isinstance(new, ast.Pass):
        return _left_out(old, say)
    if isinstance(old, ast.AugAssign) and isinstance(new, ast.AugAssign):
        what = _targets(old, say) or "the running value"
        add = isinstance(old.op, ast.Add)
        if isinstance(old.op, (ast.Add, ast.Sub)) and isinstance(new.op, (ast.Add, ast.Sub)):
            said = f"{what} were {'reduced' if add else 'increased'} instead of {'increased' if add else 'reduced'}"
            return Clause(said, "Mind the sign.", 0)
        return Clause(f"{what} were changed by the opposite operation", "Mind the operator.", 1)
    if isinstance(old, ast.If) and isinstance(new, ast.If):
        return _branch(old, new, say)
    if isinstance(old, (ast.For, ast.While)):
        return Clause("a loop did not run at all", "Look at what it goes over.", 1)
    return None


def _left_out(old: ast.stmt, say: Vocabulary) -> Clause | None:
    what = _targets(old, say)
    if isinstance(old, ast.AugAssign):
        amount = say.phrase(old.value)
        done = {ast.Add: "added to", ast.Sub: "subtracted from"}.get(type(old.op))
        if done and what:
            return Clause(f"{amount or 'nothing'} were {'not ' if amount else ''}{done} {what}", f"Update {what}.", 0)
        return Clause(f"a change of {what or 'the running value'} were left out", f"Update {what or 'it'}.", 0)
    if isinstance(old, (ast.Continue, ast.Break)):
        return Clause(f"`{type(old).__name__.lower()}` were left out of a loop", "Leave that round of the loop.", 1)
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
    named = [say.phrase(each) for each in ast.walk(old.test) if isinstance(each, (ast.Name, ast.Attribute))]
    known = list(
        dict.fromkeys(name for name in named if name and " " not in name and name not in ("np", "len", "self"))
    )
    on = f" on {' and '.join(known[:2])}" if known else ""
    if isinstance(old.body[0], ast.Raise):
        return Clause(
            f"nothing checked {' and '.join(known[:2]) or 'its arguments'}", "Raise what the docstring names.", 0
        )
    if isinstance(new.test, ast.Constant):
        if new.test.value:
            return Clause(f"a special case{on} were taken always", "Take it only where its condition holds.", 1)
        return Clause(f"a special case{on} were left out", "Treat that case on its own.", 0)
    if new.orelse != old.orelse:
        return Clause(f"the other case{on} were left out", "Treat both cases.", 1)
    return Clause(f"a condition{on} were the other way round", "Turn the condition round.", 1)
