"""A number, a flag or an axis that is another than what is needed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.diagnosis.edits.base import (
    LIKELY,
    RARE,
    UNUSUAL,
    USED_FOR,
    USUAL,
    Load,
    Made,
    Site,
    edit,
    number,
    number_in,
)
from grader.diagnosis.module_text import called, parameters

AXES = ("axis", "axes", "axis1", "axis2")
FACTORS = (2, 0.5, 10, 0.1, 100, 0.01)
HALF = 0.5
SMALLEST = 1e-3  # below it a number only keeps others away from 0, and its sign is no mistake


def is_axis(site: Site) -> bool:
    """Say whether a node is the axis of a call."""
    return isinstance(site.parent, ast.keyword) and site.parent.arg in AXES


@edit("number-wrong", ast.Constant, ast.UnaryOp, rank=USUAL)
def number_wrong(site: Site) -> Iterator[Made]:
    """Yield the numbers next to one, its negative, and the numbers that the README or the learner states."""
    value = number_in(site.node)
    if (
        value is None
        or is_axis(site)
        or number_in(site.parent) is not None
        or isinstance(site.parent, ast.FormattedValue)
    ):
        return
    likely = [value + 1, value - 1] if isinstance(value, int) else []
    if value in (0, 1, -1, HALF, 2):
        likely += [each for each in (0, 1, 2) if each != value]
    kind = float if isinstance(value, float) else int
    if isinstance(site.parent, ast.BinOp) and isinstance(site.parent.op, (ast.Add, ast.Sub)):
        likely = [each for each in likely if each]  # a term of 0 is a term too many
    if isinstance(site.parent, ast.BinOp) and isinstance(site.parent.op, ast.Pow):
        likely = [each for each in likely if each not in (0, 1)]
    if isinstance(site.parent, ast.Subscript) and getattr(site.parent.value, "attr", "") == "shape":
        return
    if value == -1 and "reshape" in (called(site.parent), called(site.parent_of(site.parent))):
        return  # it stands for what is left: another number is right in one call alone
    given = parameters(site.definition)
    held = {sample.value for operand, sample in site.operands if getattr(operand, "id", "") in given}
    for each in dict.fromkeys(likely):  # a number that an argument has here is rather that argument
        yield site.make(number(kind(each)), USED_FOR, rank=UNUSUAL if each in held else LIKELY)
    if abs(value) > SMALLEST:
        yield site.make(number(-value), USED_FOR, rank=LIKELY)
    stated = [each for each in sorted(site.context.constants) if each not in (*likely, value, -value)]
    for other in stated[:16]:
        near = value and (other / value in FACTORS or other in (value**2, abs(value) ** HALF))
        yield site.make(number(other), USED_FOR, rank=USUAL if near else UNUSUAL)


@edit("masked-value", ast.Constant, ast.UnaryOp, rank=LIKELY)
def masked_value(site: Site) -> Iterator[Made]:
    """Yield minus infinity where a mask sets scores to a number: of 0, `exp` makes a weight of 1."""
    value, parent = number_in(site.node), site.parent
    if value is None or number_in(parent) is not None:
        return
    is_case = called(parent) == "where" and len(parent.args) == 3 and site.node is not parent.args[0]
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    mask = site.value(target.slice) if isinstance(target, ast.Subscript) else None
    if is_case or (mask is not None and mask.dtype == "b"):
        infinite = ast.UnaryOp(ast.USub(), ast.Attribute(ast.Name("np", Load), "inf", Load))
        yield site.make(infinite, "what is masked out is set to `{old}`, which still counts: `{new}` is needed")


@edit("answer-wrong", ast.Return, rank=UNUSUAL)
def answer_wrong(site: Site) -> Iterator[Made]:
    """Yield another answer of a case for which one is written out."""
    value = site.node.value
    if value is None or isinstance(value, ast.Constant) or ast.unparse(value) in ("[]", "-1", "{}"):
        for text in ("-1", "0", "None", "[]", "''", "True", "False"):
            new = ast.Return(ast.parse(text, mode="eval").body)
            yield site.make([new], f"`{{old}}` gives another answer than is needed: `{text}`", f"Return `{text}`.")


@edit("flag-inverted", ast.Constant, rank=LIKELY)
def flag_inverted(site: Site) -> Iterator[Made]:
    """Yield the other truth value."""
    if isinstance(site.node.value, bool):
        is_named = isinstance(site.parent, ast.keyword)
        says = f"`{site.parent.arg}` is `{{old}}`, and `{{new}}` is needed" if is_named else USED_FOR
        yield site.make(ast.Constant(not site.node.value), says)


@edit("text-wrong", ast.Constant, rank=UNUSUAL)
def text_wrong(site: Site) -> Iterator[Made]:
    """Yield another text that the function compares with or puts in."""
    if not isinstance(site.node.value, str) or isinstance(site.parent, ast.JoinedStr):
        return
    own: dict[str, object] = {"None": None, "True": True, "False": False, "[]": []}
    if site.node.value in own:
        new = ast.parse(site.node.value, mode="eval").body
        yield site.make(new, "`{old}` is a text, and `{new}` is needed", rank=LIKELY)
    held = site.value(getattr(site.parent.func, "value", site.node)) if isinstance(site.parent, ast.Call) else None
    if held is not None and held.kind == "text" and isinstance(held.value, str):  # what separates its parts
        for sign in dict.fromkeys(each for each in held.value if not each.isalnum()):
            if sign != site.node.value:
                yield site.make(ast.Constant(sign), USED_FOR, rank=LIKELY)
    if isinstance(site.parent, ast.Call):
        return
    nodes = [each for each in ast.walk(site.definition) if isinstance(each, ast.Constant)]
    texts = dict.fromkeys(each.value for each in nodes if isinstance(each.value, str))
    for text in list(texts)[:12]:
        if text != site.node.value:
            yield site.make(ast.Constant(text), USED_FOR)


@edit("axis-wrong", ast.Constant, ast.UnaryOp, ast.Tuple, ast.Name, rank=LIKELY)
def axis_wrong(site: Site) -> Iterator[Made]:
    """Yield the other axes, alone and in pairs."""
    if not is_axis(site):
        return
    call = site.parent_of(site.parent)
    array = (
        call.func.value if isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") != "np" else None
    )
    given = array if array is not None else (call.args[0] if call.args else None)
    sample = site.value(given) if given is not None else None
    axes = len(sample.shape) if sample is not None and sample.shape else 2
    own = number_in(site.node)
    says = "the axis is `{old}`, and `{new}` is needed"
    for each in range(axes):
        for axis in (each, each - axes):
            if axis != own and (own is None or axis % axes != own % axes or axes > 2):
                yield site.make(number(axis), says)
    yield site.make(ast.Constant(None), says, rank=USUAL)
    if axes > 2:
        for one in range(axes):
            rest = [number(each) for each in range(axes) if each != one]
            yield site.make(ast.Tuple(rest, Load), says, rank=USUAL)
        yield site.make(ast.Tuple([number(-2), number(-1)], Load), says, rank=USUAL)
    for name in parameters(site.definition):
        if "axis" in name:
            yield site.make(ast.Name(name, Load), says)


@edit("number-for-name", ast.Constant, ast.UnaryOp, rank=USUAL)
def number_for_name(site: Site) -> Iterator[Made]:
    """Yield an argument or a size where a number is written out."""
    value = number_in(site.node)
    if value is None or number_in(site.parent) is not None or is_axis(site):
        return
    for operand, sample in site.operands:
        if sample.kind == "number" and sample.value != value:
            is_unread = isinstance(operand, ast.Name) and operand.id in site.unread
            given = isinstance(operand, ast.Name) and operand.id in parameters(site.definition)
            is_near = given and sample.value in (value - 1, value + 1, 0, 1, 2)  # as likely as that number itself
            rank = LIKELY if is_unread or is_near else USUAL if given else UNUSUAL
            yield site.make(operand, "`{old}` is written out where `{new}` is needed", rank=rank)


@edit("bound-off-by-one", ast.Name, ast.Attribute, ast.Call, ast.BinOp, ast.Subscript, ast.UnaryOp, rank=USUAL)
def off_by_one(site: Site) -> Iterator[Made]:
    """Yield a whole number that is one more or one less."""
    value = site.value()
    if value is None or value.kind != "number" or value.dtype != "i" or isinstance(site.parent, ast.Attribute):
        return
    place = (
        isinstance(site.parent, (ast.Slice, ast.Compare, ast.Subscript))
        or getattr(getattr(site.parent, "func", None), "id", "") == "range"
    )
    is_length = getattr(getattr(site.node, "func", None), "id", "") == "len" and isinstance(site.parent, ast.Assign)
    is_whole = isinstance(site.parent, (ast.Return, ast.Assign, ast.Call, ast.Tuple))
    is_divided = isinstance(getattr(site.parent, "op", None), ast.FloorDiv) and site.node is site.parent.left
    rank = LIKELY if place else USUAL if is_length or is_divided else UNUSUAL if is_whole else RARE
    if isinstance(site.node, ast.BinOp) and number_in(site.node.right) is not None:
        return
    for operator, word in ((ast.Add(), "less"), (ast.Sub(), "more")):
        new = ast.BinOp(site.node, operator, ast.Constant(1))
        yield site.make(new, f"`{{old}}` is one {word} than what is needed", rank=rank, adds=True)


@edit("default-wrong", ast.FunctionDef, rank=LIKELY)
def default_wrong(site: Site) -> Iterator[Made]:
    """Yield the default that the stub gives an argument."""
    stub = site.context.stub
    theirs = stub.functions.get(site.function) if stub is not None else None
    if theirs is None or not site.definition.body:
        return
    wanted, first = defaults(theirs), site.definition.body[0]
    for name, own in defaults(site.definition).items():
        other = wanted.get(name)
        if isinstance(own, ast.Constant) and isinstance(other, ast.Constant) and own.value != other.value:
            load = ast.Name(name, Load)
            kept = ast.IfExp(ast.Compare(load, [ast.Eq()], [own]), other, load)
            line = ast.Assign([ast.Name(name, ast.Store())], kept)
            says = f"the default of `{name}` is `{ast.unparse(own)}`, and the signature asks for `{ast.unparse(other)}`"
            yield site.make([line, first], says, f"Write `{name}={ast.unparse(other)}`.", old=first)


def defaults(node: ast.FunctionDef) -> dict[str, ast.expr]:
    """Return the arguments that have a default, each with it."""
    found = [*node.args.posonlyargs, *node.args.args]
    plain = dict(zip(reversed([each.arg for each in found]), reversed(node.args.defaults), strict=False))
    only = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    return plain | {each.arg: value for each, value in only if value is not None}
