"""Another operator, another comparison, operands or parentheses in another order."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import product

from grader.course.mutants import replaced
from grader.diagnosis.edits.base import LIKELY, RARE, UNUSUAL, USUAL, Made, Site, edit, number_in, written
from grader.diagnosis.trees import is_same

CONFUSED: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult), ast.Sub: (ast.Add, ast.Div, ast.Mult), ast.Mult: (ast.Div, ast.MatMult, ast.Add),
    ast.Div: (ast.Mult, ast.FloorDiv, ast.Sub), ast.Pow: (ast.Mult,), ast.FloorDiv: (ast.Mod, ast.Div),
    ast.Mod: (ast.FloorDiv, ast.Div), ast.MatMult: (ast.Mult,), ast.BitAnd: (ast.BitOr, ast.BitXor),
    ast.BitOr: (ast.BitAnd, ast.BitXor), ast.BitXor: (ast.BitOr,),
    ast.LShift: (ast.RShift,), ast.RShift: (ast.LShift,),
}  # fmt: skip
SIGNS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.FloorDiv: "//", ast.Mod: "%",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.Is: "is",
    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in", ast.And: "and", ast.Or: "or",
}  # fmt: skip
ORDERED = (ast.Sub, ast.Div, ast.MatMult, ast.Pow, ast.FloorDiv, ast.Mod)
COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt, ast.GtE, ast.NotEq), ast.LtE: (ast.Lt, ast.Gt, ast.GtE, ast.Eq),
    ast.Gt: (ast.GtE, ast.Lt, ast.LtE, ast.NotEq),
    ast.GtE: (ast.Gt, ast.Lt, ast.LtE, ast.Eq), ast.Eq: (ast.NotEq, ast.GtE, ast.LtE),
    ast.NotEq: (ast.Eq,), ast.Is: (ast.Eq, ast.IsNot),
    ast.IsNot: (ast.NotEq, ast.Is), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
LIKELIEST = {
    *((ast.Lt, ast.LtE), (ast.LtE, ast.Lt), (ast.Gt, ast.GtE), (ast.GtE, ast.Gt), (ast.Lt, ast.Gt), (ast.Gt, ast.Lt)),
}
FIRST = {
    (ast.Add, ast.Sub), (ast.Sub, ast.Add), (ast.Mult, ast.Div), (ast.Div, ast.Mult), (ast.Div, ast.FloorDiv),
    (ast.FloorDiv, ast.Div), (ast.Mult, ast.MatMult), (ast.MatMult, ast.Mult),
    (ast.BitAnd, ast.BitOr), (ast.Mod, ast.FloorDiv),
    (ast.BitOr, ast.BitAnd), (ast.FloorDiv, ast.Mod), (ast.Pow, ast.Mult),
}  # fmt: skip


@edit("operator-confused", ast.BinOp, rank=LIKELY)
def operator_confused(site: Site) -> Iterator[Made]:
    """Yield `-` for `+`, `/` for `*`, `@` for `*`."""
    own = type(site.node.op)
    for other in CONFUSED.get(own, ()):
        says = f"`{SIGNS[own]}` is used in `{{old}}` where `{SIGNS[other]}` is needed"
        rank = LIKELY if (own, other) in FIRST else UNUSUAL
        yield site.make(replaced(site.node, op=other()), says, rank=rank)


@edit("power-for-product", ast.BinOp, rank=USUAL)
def power_for_product(site: Site) -> Iterator[Made]:
    """Yield `x ** 2` for `x * 2`, and for `x ^ 2`; of floats alone: whole numbers grow without bounds in a loop."""
    node, value = site.node, site.value(site.node.left)
    is_small = number_in(node.right) is not None
    if isinstance(node.op, (ast.Mult, ast.BitXor)) and (is_small or (value is not None and value.is_real)):
        says = f"`{SIGNS[type(node.op)]}` is used in `{{old}}` where `**` is needed"
        yield site.make(replaced(node, op=ast.Pow()), says)


@edit("operator-confused", ast.AugAssign, rank=LIKELY)
def augmented_confused(site: Site) -> Iterator[Made]:
    """Yield `-=` for `+=`, and `=` for both."""
    own = type(site.node.op)
    for other in CONFUSED.get(own, ()):
        says = f"`{SIGNS[own]}=` is used where `{SIGNS[other]}=` is needed"
        rank = LIKELY if (own, other) in FIRST else UNUSUAL
        yield site.make([replaced(site.node, op=other())], says, f"Write `{SIGNS[other]}=`.", rank=rank)
    plain = ast.Assign([site.node.target], site.node.value)
    yield site.make([plain], f"`{SIGNS[own]}=` adds to what is there, and the value has to be set", rank=USUAL)


@edit("not-accumulated", ast.Assign, rank=USUAL)
def not_accumulated(site: Site) -> Iterator[Made]:
    """Yield `+=` where a loop sets a name or an entry anew in each round."""
    node = site.node
    if len(node.targets) != 1 or not isinstance(node.targets[0], (ast.Name, ast.Subscript, ast.Attribute)):
        return
    if isinstance(getattr(node.value, "value", 0), bool):
        return
    is_inside = site.is_in_loop
    for operator, rank in ((ast.Add(), USUAL if is_inside else UNUSUAL), (ast.Mult(), UNUSUAL), (ast.Sub(), RARE)):
        sign = SIGNS[type(operator)]
        says = f"each round replaces `{ast.unparse(node.targets[0])}`, which has to accumulate"
        if not is_inside:
            says = f"`{ast.unparse(node.targets[0])}` is set anew, and has to keep what is there"
        new = ast.AugAssign(node.targets[0], operator, node.value)
        yield site.make([new], says, f"Write `{sign}=`.", rank=rank)


@edit("operands-swapped", ast.BinOp, rank=LIKELY)
def operands_swapped(site: Site) -> Iterator[Made]:
    """Yield `b - a` for `a - b`."""
    node = site.node
    value = site.value()
    is_joined = isinstance(node.op, ast.Add) and value is not None and value.kind in ("sequence", "text")
    if isinstance(node.op, ORDERED) or is_joined:
        new = replaced(node, left=node.right, right=node.left)
        yield site.make(new, "the operands of `{old}` are in the wrong order")


@edit("shares-swapped", ast.BinOp, rank=LIKELY)
def shares_swapped(site: Site) -> Iterator[Made]:
    """Yield `p * a + (1 - p) * b` for `(1 - p) * a + p * b`."""
    match site.node:
        case ast.BinOp(ast.BinOp(op=ast.Mult()) as first, ast.Add(), ast.BinOp(op=ast.Mult()) as last):
            for one, other in product(("left", "right"), repeat=2):
                here, there = getattr(first, one), getattr(last, other)
                if _is_rest(here, there) or _is_rest(there, here):
                    new = replaced(
                        site.node, left=replaced(first, **{one: there}), right=replaced(last, **{other: here})
                    )
                    says = f"`{site.show(here)}` and `{site.show(there)}` stand in each other's place in `{{old}}`"
                    yield site.make(new, says)


def _is_rest(node: ast.expr, share: ast.expr) -> bool:
    """Say whether an expression is what a share leaves of 1."""
    match node:
        case ast.BinOp(ast.Constant(value=1), ast.Sub(), rest):
            return is_same(rest, share)
    return False


@edit("sign-misplaced", ast.BinOp, rank=LIKELY)
def sign_misplaced(site: Site) -> Iterator[Made]:
    """Yield `a + (-b)` for `-a + b`."""
    left, right = site.node.left, site.node.right
    is_first = isinstance(left, ast.UnaryOp) and isinstance(left.op, ast.USub)
    is_last = isinstance(right, ast.UnaryOp) and isinstance(right.op, ast.USub)
    if isinstance(site.node.op, ast.Add) and is_first != is_last:
        one = left.operand if is_first else ast.UnaryOp(ast.USub(), left)
        other = right.operand if is_last else ast.UnaryOp(ast.USub(), right)
        yield site.make(replaced(site.node, left=one, right=other), "the sign in `{old}` stands before the wrong part")


@edit("comparison-wrong", ast.Compare, rank=LIKELY)
def comparison_wrong(site: Site) -> Iterator[Made]:
    """Yield another comparison: `<=` for `<`, `>` for `<`, `not in` for `in`."""
    node = site.node
    value = site.value(node.left)
    is_number = value is None or value.is_numeric
    for place, operator in enumerate(node.ops):
        for other in COMPARED[type(operator)]:
            if isinstance(operator, ast.Eq) and other is not ast.NotEq and not is_number:
                continue
            ops = [*node.ops[:place], other(), *node.ops[place + 1 :]]
            says = f"`{SIGNS[type(operator)]}` is used in `{{old}}` where `{SIGNS[other]}` is needed"
            rank = (
                LIKELY if (type(operator), other) in LIKELIEST or not isinstance(operator, (ast.Lt, ast.Gt)) else USUAL
            )
            yield site.make(replaced(node, ops=ops), says, rank=rank)
    if len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.Is, ast.Eq)) is False:
        new = replaced(node, left=node.comparators[0], comparators=[node.left])
        yield site.make(new, "the two sides of `{old}` are in the wrong order", rank=UNUSUAL)


@edit("condition-inverted", ast.If, ast.While, ast.IfExp, rank=LIKELY)
def condition_inverted(site: Site) -> Iterator[Made]:
    """Yield the opposite condition."""
    test = site.node.test
    plain = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    new = test.operand if plain else ast.UnaryOp(ast.Not(), test)
    yield site.make(new, "the condition `{old}` is the opposite of what is needed", old=test)


@edit("inversion-superfluous", ast.UnaryOp, rank=LIKELY)
def inversion_superfluous(site: Site) -> Iterator[Made]:
    """Yield what is negated or inverted without that."""
    node = site.node
    if number_in(node) is None or isinstance(node.op, (ast.Not, ast.Invert)):
        word = {ast.USub: "the sign of `{old}` is wrong", ast.UAdd: "`{old}`"}.get(
            type(node.op), "`{old}` is inverted, and must not be"
        )
        yield site.make(node.operand, word)


@edit("mask-inverted", ast.Name, ast.Compare, ast.Subscript, ast.Call, rank=USUAL)
def mask_inverted(site: Site) -> Iterator[Made]:
    """Yield a mask inverted."""
    value = site.value()
    if value is not None and value.kind == "array" and value.dtype == "b":
        if isinstance(getattr(site.node, "ctx", None), (ast.Store, ast.Del)) or isinstance(site.parent, ast.UnaryOp):
            return
        yield site.make(ast.UnaryOp(ast.Invert(), site.node), "the mask `{old}` is the opposite of what is needed")


@edit("boolean-confused", ast.BoolOp, rank=LIKELY)
def boolean_confused(site: Site) -> Iterator[Made]:
    """Yield `or` for `and`, and one condition less."""
    node = site.node
    own = "and" if isinstance(node.op, ast.And) else "or"
    other = ast.Or() if own == "and" else ast.And()
    yield site.make(replaced(node, op=other), f"`{own}` is used in `{{old}}` where `{SIGNS[type(other)]}` is needed")
    if len(node.values) > 2:
        says = f"`{own}` joins all conditions of `{{old}}`, and some of them are joined by `{SIGNS[type(other)]}`"
        *first, one, last = node.values
        yield site.make(replaced(node, values=[*first, ast.BoolOp(other, [one, last])]), says, rank=USUAL)
        one, last, *rest = node.values
        yield site.make(replaced(node, values=[ast.BoolOp(other, [one, last]), *rest]), says, rank=USUAL)
    for place in range(len(node.values)):
        rest = [*node.values[:place], *node.values[place + 1 :]]
        new = rest[0] if len(rest) == 1 else replaced(node, values=rest)
        yield site.make(
            new, f"the condition `{site.show(node.values[place])}` is one too many in `{{old}}`", rank=USUAL
        )


@edit("parentheses", ast.BinOp, rank=USUAL)
def regrouped(site: Site) -> Iterator[Made]:
    """Yield a formula with its parentheses in another place: `(a + b) * c` for `a + b * c`."""
    node = site.node
    says = "the parentheses in `{old}` are in the wrong place"
    if isinstance(node.left, ast.BinOp) and _matters(node.left.op, node.op):
        inner = ast.BinOp(node.left.right, node.op, node.right)
        yield site.make(ast.BinOp(node.left.left, node.left.op, inner), says)
        first = ast.BinOp(node.left.left, node.op, node.right)
        yield site.make(ast.BinOp(first, node.left.op, node.left.right), says)
        if isinstance(node.left.right, ast.BinOp):  # a + b / c * d: the last operand belongs with the first
            deep = node.left.right
            moved = ast.BinOp(deep.left, deep.op, ast.BinOp(deep.right, node.op, node.right))
            yield site.make(ast.BinOp(node.left.left, node.left.op, moved), says, rank=UNUSUAL)
    if isinstance(node.right, ast.BinOp) and _matters(node.op, node.right.op):
        outer = ast.BinOp(node.left, node.op, node.right.left)
        yield site.make(ast.BinOp(outer, node.right.op, node.right.right), says)
        if isinstance(node.op, ast.Mult) and isinstance(node.right.op, (ast.Add, ast.Sub)):
            alone = ast.BinOp(node.left, ast.Mult(), node.right.right)
            yield site.make(ast.BinOp(node.right.left, node.right.op, alone), says)
    match node:
        case ast.BinOp(left=ast.BinOp(right=ast.Call(args=[one]) as call), op=ast.Add() | ast.Sub()):  # 1 / sqrt(a) + b
            inner = replaced(call, args=[ast.BinOp(one, node.op, node.right)])
            says_where = f"`{site.show(node.right)}` belongs inside of `{ast.unparse(call.func)}(…)`"
            yield site.make(replaced(node.left, right=inner), says_where)
    for side in ("left", "right"):
        call = getattr(node, side)
        if isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords:  # sqrt(a) + b: b belongs inside
            other = node.right if side == "left" else node.left
            pair = (call.args[0], other) if side == "left" else (other, call.args[0])
            new = replaced(call, args=[ast.BinOp(pair[0], node.op, pair[1])])
            yield site.make(new, f"`{site.show(other)}` belongs inside of `{ast.unparse(call.func)}(…)`")


@edit("parentheses", ast.Call, rank=USUAL)
def taken_out(site: Site) -> Iterator[Made]:
    """Yield a term outside of a call that stands inside: `sqrt(a) + b` for `sqrt(a + b)`."""
    node = site.node
    inner = node.args[0] if node.args else None
    if isinstance(inner, ast.BinOp):
        first = replaced(node, args=[inner.left, *node.args[1:]])
        last = replaced(node, args=[inner.right, *node.args[1:]])
        name = ast.unparse(node.func)
        yield site.make(replaced(inner, left=first), f"`{site.show(inner.right)}` belongs outside of `{name}(…)`")
        yield site.make(
            replaced(inner, right=last), f"`{site.show(inner.left)}` belongs outside of `{name}(…)`", rank=UNUSUAL
        )
    if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.BinOp):
        whole = node.func.value
        for side in ("left", "right"):
            part = replaced(node, func=replaced(node.func, value=getattr(whole, side)))
            says = (
                f"`{node.func.attr}` is taken of all of `{{old}}`, and belongs to `{site.show(getattr(whole, side))}`"
            )
            yield site.make(replaced(whole, **{side: part}), says, rank=UNUSUAL)


def _matters(inner: ast.operator, outer: ast.operator) -> bool:
    """Say whether it matters which of two operations comes first."""
    same = type(inner) is type(outer) and isinstance(inner, (ast.Add, ast.Mult, ast.MatMult))
    return not same


@edit("elements-swapped", ast.Tuple, ast.List, rank=LIKELY)
def elements_swapped(site: Site) -> Iterator[Made]:
    """Yield a tuple with two of its entries swapped."""
    node = site.node
    if not isinstance(node.ctx, ast.Load) or len(node.elts) > 6 or isinstance(site.parent, ast.Compare):
        return
    for one in range(len(node.elts)):
        for other in range(one + 1, len(node.elts)):
            if ast.dump(node.elts[one]) != ast.dump(node.elts[other]):
                elts = list(node.elts)
                elts[one], elts[other] = elts[other], elts[one]
                pair = f"`{site.show(node.elts[one])}` and `{site.show(node.elts[other])}` are swapped"
                yield site.make(replaced(node, elts=elts), pair, rank=LIKELY if other == one + 1 else USUAL)


@edit("targets-swapped", ast.For, ast.comprehension, rank=USUAL)
def loop_targets_swapped(site: Site) -> Iterator[Made]:
    """Yield a loop whose two names are swapped."""
    target = site.node.target
    if isinstance(target, ast.Tuple) and len(target.elts) == 2:
        new = replaced(target, elts=target.elts[::-1])
        yield site.make(new, "the two names in `{old}` are swapped", "Write `{new}`.", old=target)


@edit("targets-swapped", ast.Assign, rank=USUAL)
def targets_swapped(site: Site) -> Iterator[Made]:
    """Yield an unpacking into two names that are swapped."""
    target = site.node.targets[0]
    if isinstance(target, ast.Tuple) and 1 < len(target.elts) < 5:
        for place in range(len(target.elts) - 1):
            elts = list(target.elts)
            elts[place], elts[place + 1] = elts[place + 1], elts[place]
            pair = f"`{ast.unparse(elts[place + 1])}` and `{ast.unparse(elts[place])}` are swapped in `{{old}}`"
            yield site.make([replaced(site.node, targets=[replaced(target, elts=elts)])], pair, "Swap the two names.")


@edit("comparison-of-none", ast.Compare, rank=LIKELY)
def comparison_of_none(site: Site) -> Iterator[Made]:
    """Yield a comparison that is not made while one of its sides is None."""
    node = site.node
    if not site.is_raised("TypeError") or len(node.ops) != 1:
        return
    for each in (node.comparators[0], node.left):
        if any(sample.kind == "none" for sample in site.context.trace.samples.get(id(each), ())):
            says = f"`{site.show(each)}` may be None in `{{old}}`"
            for form in ("EACH is None or TEST", "EACH is not None and TEST"):
                yield site.make(written(form, EACH=each, TEST=node), says, "Write `{new}`.", adds=True)
