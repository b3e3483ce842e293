"""Clauses for changed operations: other operators, operands in another order, transposed, rooted, counted twice."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.diagnosis.slips.wording.clause import Clause
from grader.diagnosis.slips.wording.left_out import one_side
from grader.diagnosis.slips.wording.nouns import SYMBOLS
from grader.diagnosis.slips.wording.phrases import Vocabulary, called, constant_of

KINDS = {
    ast.Add: "a sum", ast.Sub: "a difference", ast.Mult: "a product", ast.Div: "a quotient",
    ast.MatMult: "a matrix product", ast.Pow: "a power", ast.FloorDiv: "a whole-number quotient",
    ast.Mod: "a remainder",
}  # fmt: skip


def operation(old: ast.BinOp, new: ast.AST, say: Vocabulary) -> Clause | None:
    """Return the clause of an operation for which something else stands."""
    if new is old.left or new is old.right:
        return one_side(old, old.left if new is old.left else old.right, say)
    left, right = say.term(old.left), say.term(old.right)
    if left == right:
        left, right = say.quote(old.left), say.quote(old.right)
    if isinstance(new, ast.UnaryOp):
        what = f"the quotient of {left} and {right}" if left and right else "a quotient"
        return Clause(f"{what} were rounded up instead of down", "Round as the README says.", 3)
    if not isinstance(new, ast.BinOp):
        return None
    if new.left is old and new.right in (old.left, old.right):
        return _twice(old, right if new.right is old.right else left)
    if type(new.op) is not type(old.op) and new.left is old.left and new.right is old.right:
        return _other_operator(old, new, left, right)
    if new.left is old.right and new.right is old.left:
        return _turned(old, left, right)
    return _operand(old, new, say)


def _twice(old: ast.BinOp, what: str | None) -> Clause:
    if isinstance(old.op, ast.Mult):
        said = f"it were multiplied by {what} twice" if what else "a factor were multiplied by twice"
        return Clause(said, "Do that once.", 2)
    return Clause(f"{what or 'a term'} were added twice", "Do that once.", 2)


def _other_operator(old: ast.BinOp, new: ast.BinOp, left: str | None, right: str | None) -> Clause | None:
    """Return the clause of another operator between the same two values."""
    one, other, it = left or "one value", right or "another", right or "it"
    match old.op, new.op:
        case ast.Add(), ast.Sub():
            return Clause(f"{right or 'a term'} were subtracted instead of added", f"Add {it}.", 0)
        case ast.Sub(), ast.Add():
            return Clause(f"{right or 'a term'} were added instead of subtracted", f"Subtract {it}.", 0)
        case ast.Mult(), ast.Div():
            return Clause(f"{one} were divided by {other} instead of multiplied", f"Multiply by {it}.", 0)
        case ast.Div(), ast.Mult():
            return Clause(f"{one} were multiplied by {other} instead of divided", f"Divide by {it}.", 0)
        case ast.MatMult(), _:
            said = f"{left or 'one array'} and {other} were multiplied elementwise instead of as matrices"
            return Clause(said, "Use `@`.", 1)
        case ast.Mult(), ast.MatMult():
            said = f"{left or 'one array'} and {other} were multiplied as matrices instead of elementwise"
            return Clause(said, "Use `*`.", 1)
        case ast.Mult(), ast.Add():
            return Clause(f"{one} and {other} were added instead of multiplied", "Multiply them.", 1)
        case ast.Add(), ast.Mult():
            return Clause(f"{one} and {other} were multiplied instead of added", "Add them.", 1)
        case ast.Pow(), ast.Mult():
            said = f"{one} were multiplied by {right or 'the exponent'} instead of raised to that power"
            return Clause(said, "Use `**`.", 1)
        case ast.Div(), ast.FloorDiv():
            return Clause("the quotient were rounded down to a whole number", "Use `/`.", 1)
        case ast.FloorDiv(), ast.Div():
            return Clause("the quotient were not rounded down to a whole number", "Use `//`.", 1)
    was, now = SYMBOLS.get(type(old.op)), SYMBOLS.get(type(new.op))
    return Clause(f"`{now}` stood where `{was}` belongs", f"Use `{was}`.", 2) if was and now else None


def _turned(old: ast.BinOp, left: str | None, right: str | None) -> Clause | None:
    """Return the clause of two operands that changed places."""
    both = bool(left and right)
    match old.op:
        case ast.Sub():
            said = f"{left} were subtracted from {right} instead of {right} from {left}"
            said = said if both else "a difference were taken the other way round"
            return Clause(said, "Turn it round: its sign is wrong.", 0)
        case ast.Div():
            said = f"{right} were divided by {left} instead of {left} by {right}"
            return Clause(said if both else "a fraction were upside down", "Turn the fraction over.", 1)
        case ast.MatMult():
            what = f"{left} and {right}" if both else "two matrices"
            fix = "A matrix product depends on its order: swap them."
            return Clause(f"{what} were multiplied in the other order", fix, 0)
    return Clause(f"the two sides of {KINDS.get(type(old.op), 'an operation')} were swapped", "Swap them back.", 1)


def _operand(old: ast.BinOp, new: ast.BinOp, say: Vocabulary) -> Clause | None:
    """Return the clause of an operation of which the operands were changed: transposed, rooted, 1 - x."""
    sides = list(_sides(old, new))
    turned = [side for side, other in sides if _transposes(side, other)]
    plain = [side for side, other in sides if _transposes(other, side)]
    if isinstance(old.op, ast.MatMult) and (turned or plain):
        return _transposed(len(sides), turned, plain, say)
    if new.left is old.left and isinstance(new.right, ast.BinOp) and new.right.left is old.right:
        what, value = say.term(old.right) or "the divisor", say.term(old.left) or "it"
        power = "the square root" if constant_of(new.right.right) == 0.5 else "the square"
        said = f"{value} were divided by {power} of {what} instead of {what} itself"
        return Clause(said, f"Divide by {what}.", 0)
    for side, other in sides:
        if isinstance(other, ast.BinOp) and isinstance(other.op, ast.Sub) and other.right is side:
            what = say.term(side) or "a factor"
            return Clause(f"1 - {what} stood where {what} belongs", f"Use {what}.", 1)
    return None


def _transposed(changed: int, turned: list[ast.expr], plain: list[ast.expr], say: Vocabulary) -> Clause:
    """Return the clause of a matrix product with other transposes: of both sides, of one too many, of one too few."""
    if len(turned) + len(plain) == changed == 2:
        return Clause("the matrix product came out transposed", "Swap the two factors, or transpose the result.", 1)
    if turned:
        what = say.term(turned[0]) or "one of the factors"
        return Clause(f"{what} were transposed in a matrix product", f"Multiply by {what} as it is.", 1)
    what = say.term(_inner(plain[0])) or "one of the factors"
    fix = f"Transpose {what}: swap its last two axes."
    return Clause(f"{what} were not transposed in a matrix product", fix, 0)


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
    if isinstance(other, ast.Attribute):
        return other.attr == "T" and other.value is plain
    if not isinstance(other, ast.Call) or called(other) != "swapaxes":
        return False
    return plain in (*other.args[:1], getattr(other.func, "value", None))


def _inner(node: ast.expr) -> ast.expr:
    """Return what a transpose is taken of."""
    if isinstance(node, ast.Attribute):
        return node.value
    if isinstance(node, ast.Call) and len(node.args) == 3:
        return node.args[0]
    function = node.func if isinstance(node, ast.Call) else None
    return function.value if isinstance(function, ast.Attribute) else node
