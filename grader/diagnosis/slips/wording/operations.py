"""Clauses for changed operations: terms left out, other operators, operands in another order, transposed, twice."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from grader.diagnosis.slips.wording.clause import Clause
from grader.diagnosis.slips.wording.phrases import SYMBOLS, Vocabulary, called, constant_of

VERBS = {ast.Add: "added", ast.Sub: "subtracted", ast.Mult: "multiplied by", ast.Div: "divided by"}
KINDS = {
    ast.Add: "a sum", ast.Sub: "a difference", ast.Mult: "a product", ast.Div: "a quotient", ast.MatMult: "a matrix product",
    ast.Pow: "a power", ast.FloorDiv: "a whole quotient", ast.Mod: "a remainder",
}  # fmt: skip


def operation(old: ast.BinOp, new: ast.AST, say: Vocabulary) -> Clause | None:
    """Return the clause of an operation for which something else stands."""
    left, right = say.phrase(old.left), say.phrase(old.right)
    if new is old.left:
        return _ranked(_without_right(old, left, right or say.term(old.right)), right)
    if new is old.right:
        return _ranked(_without_left(old, left or say.term(old.left), right), left)
    left, right = left or say.term(old.left), right or say.term(old.right)
    if left == right:
        left = right = None
    if not isinstance(new, ast.BinOp):
        if isinstance(new, ast.UnaryOp):
            return Clause(
                f"{say.phrase(old) or 'a quotient'} were rounded the other way", "Round as the README says.", 3
            )
        return None
    if new.left is old and new.right in (old.left, old.right):
        what = (right if new.right is old.right else left) or "a factor"
        done = "multiplied by" if isinstance(old.op, ast.Mult) else "added"
        said = f"it were multiplied by {what} twice" if done != "added" else f"{what} were added twice"
        return Clause(said, "Do that once.", 2)
    if type(new.op) is not type(old.op) and new.left is old.left and new.right is old.right:
        return _other_operator(old, new, left, right)
    if new.left is old.right and new.right is old.left:
        return _turned(old, left, right)
    return _operand(old, new, say)


def _ranked(clause: Clause | None, name: str | None) -> Clause | None:
    """Return a clause as a less likely one where it cannot name what is missing."""
    return clause if clause is None or name else replace(clause, rank=clause.rank + 1)


def _without_right(old: ast.BinOp, left: str | None, right: str | None) -> Clause | None:
    match old.op:
        case ast.Add():
            return Clause(
                f"{right or 'a term'} were not added" + (f" to {left}" if left else ""), _back(right, "Add", "it"), 0
            )
        case ast.Sub():
            return Clause(
                f"{right or 'a term'} were not subtracted" + (f" from {left}" if left else ""),
                _back(right, "Subtract", "it"),
                0,
            )
        case ast.Mult():
            what = (
                f"{left} were not multiplied by {right}"
                if left and right
                else f"the factor {right} were left out"
                if right
                else "a factor were left out" + (f": only {left} is there" if left else "")
            )
            return Clause(what, _back(right, "Multiply by"), 0)
        case ast.Div():
            what = (
                f"{left} were not divided by {right}"
                if left and right
                else f"the division by {right} were left out"
                if right
                else f"{left or 'something'} were not divided"
            )
            return Clause(what, _back(right, "Divide by"), 0)
        case ast.MatMult():
            return Clause(
                f"the matrix product with {right or 'a matrix'} were left out", _back(right, "Multiply by"), 0
            )
        case ast.Pow():
            power = constant_of(old.right)
            said = {
                0.5: "the square root of {} were not taken",
                2: "{} were not squared",
                -0.5: "1 / square root of {} were not taken",
            }
            form = said.get(power, "{} were not raised to the power " + (right or "that belongs there"))  # type: ignore[call-overload]
            return Clause(form.format(left or "a value"), "Take that power.", 0)
        case ast.BitAnd() | ast.BitOr():
            return Clause(f"the condition {right or ''} were left out".replace("  ", " "), "Both conditions count.", 1)
    return None


def _without_left(old: ast.BinOp, left: str | None, right: str | None) -> Clause | None:
    match old.op:
        case ast.Add():
            return Clause(
                f"{left or 'a term'} were not added" + (f" to {right}" if right else ""), _back(left, "Add", "it"), 0
            )
        case ast.Sub():
            return Clause(
                f"only {right or 'what is subtracted'} were left, and {left or 'what it is subtracted from'} were missing",
                _back(left, "Start from"),
                1,
            )
        case ast.Mult():
            what = (
                f"{right} were not multiplied by {left}"
                if left and right
                else f"the factor {left} were left out"
                if left
                else "a factor were left out" + (f": only {right} is there" if right else "")
            )
            return Clause(what, _back(left, "Multiply by"), 0)
        case ast.Div():
            return Clause(f"only the divisor{f' {right}' if right else ''} were left", "Divide by it.", 2)
        case ast.MatMult():
            return Clause(f"the matrix product with {left or 'a matrix'} were left out", _back(left, "Multiply by"), 0)
        case ast.BitAnd() | ast.BitOr():
            return Clause(f"the condition {left or ''} were left out".replace("  ", " "), "Both conditions count.", 1)
    return None


def _back(what: str | None, verb: str, otherwise: str = "what belongs there") -> str:
    return (
        f"{verb} {what or otherwise}."
        if what or otherwise != "it"
        else "Add the missing term."
        if verb == "Add"
        else "Subtract the missing term."
    )


def _other_operator(old: ast.BinOp, new: ast.BinOp, left: str | None, right: str | None) -> Clause | None:
    match old.op, new.op:
        case ast.Add(), ast.Sub():
            return Clause(f"{right or 'a term'} were subtracted instead of added", f"Add {right or 'it'}.", 0)
        case ast.Sub(), ast.Add():
            return Clause(f"{right or 'a term'} were added instead of subtracted", f"Subtract {right or 'it'}.", 0)
        case ast.Mult(), ast.Div():
            return Clause(
                f"{left or 'a value'} were divided by {right or 'a factor'} instead of multiplied",
                f"Multiply by {right or 'it'}.",
                0,
            )
        case ast.Div(), ast.Mult():
            return Clause(
                f"{left or 'a value'} were multiplied by {right or 'the divisor'} instead of divided",
                f"Divide by {right or 'it'}.",
                0,
            )
        case ast.MatMult(), _:
            return Clause(
                f"the matrix product of {left or 'one array'} and {right or 'another'} were an elementwise product",
                "Use `@`.",
                1,
            )
        case ast.Mult(), ast.MatMult():
            return Clause(
                f"{left or 'one array'} and {right or 'another'} were matrix-multiplied instead of multiplied element by element",
                "Use `*`.",
                1,
            )
        case ast.Mult(), ast.Add():
            return Clause(
                f"{left or 'one value'} and {right or 'another'} were added instead of multiplied", "Multiply them.", 1
            )
        case ast.Add(), ast.Mult():
            return Clause(
                f"{left or 'one value'} and {right or 'another'} were multiplied instead of added", "Add them.", 1
            )
        case ast.Pow(), ast.Mult():
            return Clause(
                f"{left or 'a value'} were multiplied by {right or 'the exponent'} instead of raised to that power",
                "Use `**`.",
                1,
            )
        case ast.Div(), ast.FloorDiv():
            return Clause("the division were a whole-number division", "Use `/`.", 1)
        case ast.FloorDiv(), ast.Div():
            return Clause("the whole-number division were an ordinary one", "Use `//`.", 1)
    was, now = SYMBOLS.get(type(old.op)), SYMBOLS.get(type(new.op))
    return Clause(f"`{now}` stood where `{was}` belongs", f"Use `{was}`.", 2) if was and now else None


def _turned(old: ast.BinOp, left: str | None, right: str | None) -> Clause | None:
    match old.op:
        case ast.Sub():
            pair = f": {right} - {left} instead of {left} - {right}" if left and right else ""
            return Clause(f"a difference were taken the other way round{pair}", "Turn it round: its sign is wrong.", 0)
        case ast.Div():
            what = (
                f"{right} were divided by {left} instead of {left} by {right}"
                if left and right
                else "a fraction were upside down"
            )
            return Clause(what, "Turn the fraction over.", 1)
        case ast.MatMult():
            what = f"{left} and {right}" if left and right else "two matrices"
            return Clause(
                f"{what} were multiplied in the other order", "A matrix product depends on its order: swap them.", 0
            )
    return Clause(f"the two sides of {KINDS.get(type(old.op), 'an operation')} were swapped", "Swap them back.", 1)


def _operand(old: ast.BinOp, new: ast.BinOp, say: Vocabulary) -> Clause | None:
    """Return the clause of an operation of which the operands were changed: transposed, rooted, 1 - x."""
    turned = [side for side, other in _sides(old, new) if _transposes(side, other)]
    plain = [side for side, other in _sides(old, new) if _transposes(other, side)]
    if isinstance(old.op, ast.MatMult) and (turned or plain):
        if len(turned) + len(plain) == 2 and new.left is not old.left and new.right is not old.right:
            return Clause("the matrix product came out transposed", "Swap the two factors, or transpose the result.", 1)
        if turned:
            what = say.phrase(turned[0]) or "one of the factors"
            return Clause(f"{what} were transposed in a matrix product", f"Multiply by {what} as it is.", 1)
        what = say.phrase(_inner(plain[0])) or "one of the factors"
        return Clause(
            f"{what} were not transposed in a matrix product", f"Transpose {what}: swap its last two axes.", 0
        )
    if new.left is old.left and isinstance(new.right, ast.BinOp) and new.right.left is old.right:
        what = say.phrase(old.right) or "the divisor"
        power = "the square root of " if constant_of(new.right.right) == 0.5 else "the square of "
        return Clause(f"it were divided by {power}{what} instead of {what}", f"Divide by {what}.", 0)
    for side, other in _sides(old, new):
        if isinstance(other, ast.BinOp) and isinstance(other.op, ast.Sub) and other.right is side:
            what = say.phrase(side) or "a factor"
            return Clause(f"1 - {what} stood where {what} belongs", f"Use {what}.", 1)
    if isinstance(old.left, ast.Constant) and isinstance(new.op, ast.Add) and isinstance(old.op, ast.Sub):
        return Clause("1 were increased instead of reduced", "Subtract.", 1)
    return None


def _sides(old: ast.BinOp, new: ast.BinOp) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield each operand that was changed, before and after; a product that was turned over too is taken crosswise."""
    if new.left is old.left or new.right is old.right:
        if new.left is not old.left:
            yield old.left, new.left
        if new.right is not old.right:
            yield old.right, new.right
    else:
        yield old.left, new.right
        yield old.right, new.left


def _transposes(plain: ast.expr, other: ast.expr) -> bool:
    return (
        called(other) == "swapaxes"
        and isinstance(other, ast.Call)
        and plain in (*other.args[:1], getattr(other.func, "value", None))
    ) or (isinstance(other, ast.Attribute) and other.attr == "T" and other.value is plain)


def _inner(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Attribute):
        return node.value
    if isinstance(node, ast.Call) and node.args and len(node.args) == 3:
        return node.args[0]
    function = node.func if isinstance(node, ast.Call) else None
    return function.value if isinstance(function, ast.Attribute) else node
