"""A term, a factor or a sign that is too much or missing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.course.mutants import replaced
from grader.diagnosis.edits.base import (
    LIKELY,
    RARE,
    UNUSUAL,
    USUAL,
    Load,
    Made,
    Site,
    edit,
    fits,
    named,
    number,
    number_in,
)
from grader.diagnosis.module_text import called, loaded, parameters, root_name, stored
from grader.diagnosis.trees import is_same

OUTER = (
    ast.Return,
    ast.Assign,
    ast.AugAssign,
    ast.Tuple,
    ast.BinOp,
    ast.Dict,
    ast.keyword,
    ast.Call,
    ast.AnnAssign,
    ast.Lambda,
    ast.ListComp,
    ast.GeneratorExp,
    ast.DictComp,
)
WHOLE = (ast.Return, ast.Assign, ast.AugAssign, ast.Tuple, ast.Dict, ast.AnnAssign, ast.Lambda, ast.ListComp)
WORDS = {ast.Add: "added", ast.Sub: "subtracted", ast.Mult: "a factor", ast.Div: "a divisor"}
CURVED = ("tanh", "exp", "sigmoid", "cosh", "sinh", "sin", "cos", "erf", "log")
FILLED = ("zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like", "full_like")  # to be written into
MOST_TERMS = 14
MOST_SIZES = 10  # arrays and lists by whose length something is divided, those that come last first
FEW = 4


@edit("term-superfluous", ast.BinOp, rank=LIKELY)
def term_superfluous(site: Site) -> Iterator[Made]:
    """Yield an operation without one of its operands."""
    node = site.node
    if (
        called(site.parent) in ("range", "arange")
        and number_in(node.right) == 1
        and isinstance(node.op, (ast.Add, ast.Sub))
    ):
        word = "late" if isinstance(node.op, ast.Add) else "early"
        yield site.make(node.left, f"`{site.show(site.parent)}` ends one too {word}")
        return
    if isinstance(node.op, (ast.BitAnd, ast.BitOr, *WORDS, ast.MatMult, ast.Mod, ast.FloorDiv, ast.Pow)):
        power = "** " if isinstance(node.op, ast.Pow) else ""
        is_shift = called(site.parent) == "exp" and isinstance(node.op, ast.Sub)  # that keeps it from overflowing
        rank = RARE if is_shift else LIKELY
        yield site.make(node.left, f"`{power}{site.show(node.right)}` is too much in `{{old}}`", rank=rank)
        if not isinstance(node.op, ast.Pow):
            rank = LIKELY if isinstance(node.op, (ast.Mult, ast.Add, ast.MatMult)) else USUAL
            sign = " -" if isinstance(node.op, ast.Sub) else ""
            yield site.make(node.right, f"`{site.show(node.left)}{sign}` is too much in `{{old}}`", rank=rank)


@edit("sign-wrong", ast.Name, ast.BinOp, ast.Call, ast.Subscript, ast.Attribute, rank=USUAL)
def sign_wrong(site: Site) -> Iterator[Made]:
    """Yield a value with the other sign."""
    value = site.number
    if value is None or called(site.node) in ("empty", "empty_like"):  # which hold nothing yet
        return
    if isinstance(site.parent, (*WHOLE, ast.ListComp)) or _is_argument(site):
        is_key = isinstance(site.parent_of(site.parent), ast.Lambda) or isinstance(site.parent, ast.Lambda)
        rank = LIKELY if value.is_real or is_key else UNUSUAL
        if _is_conversion(site):
            rank = RARE
        yield site.make(ast.UnaryOp(ast.USub(), site.node), "the sign of `{old}` is wrong", rank=rank)


def _is_argument(site: Site) -> bool:
    """Say whether a curve is taken of a value: exp, or a function of the module's that has one argument."""
    name = called(site.parent)
    if not isinstance(site.parent, ast.Call) or site.parent.args[:1] != [site.node]:
        return False
    own = site.module.functions.get(name or "")
    return name in ("exp", "sigmoid") or (own is not None and len(parameters(own)) == 1)


def _is_conversion(site: Site) -> bool:
    """Say whether a line only brings an argument into another form, under its name: x = np.asarray(x)."""
    target = site.parent.targets[0] if isinstance(site.parent, ast.Assign) else None
    name = getattr(target, "id", "")
    is_own = isinstance(site.node, ast.Call) and name in parameters(site.definition)
    return is_own and any(getattr(each, "id", "") == name for each in site.node.args[:1])


@edit("term-missing", ast.Name, ast.BinOp, ast.Call, ast.Subscript, ast.Attribute, ast.UnaryOp, rank=UNUSUAL)
def term_missing(site: Site) -> Iterator[Made]:
    """Yield a value with one more term, factor or divisor that is at hand and fits its shape."""
    value, node = site.number, site.node
    if value is None:
        return
    is_case = called(site.parent) == "where" and node is not site.parent.args[0]
    many = isinstance(site.parent, ast.Call) and len(site.parent.args) > 2 and not is_case
    if not isinstance(site.parent, OUTER) or many:
        return
    is_whole = isinstance(site.parent, WHOLE)
    own = {ast.dump(each) for each in (node, *(vars(node).get(side) for side in ("left", "right"))) if each is not None}
    some, whole = 0, _whole_of(site)
    for operand, sample in site.operands:
        is_result = isinstance(site.parent, (ast.Return, ast.Assign)) and value.is_real and value.shape
        if is_result and sample.dtype == "b" and sample.shape == value.shape[:-1]:
            rows = ast.Subscript(operand, ast.Tuple([ast.Constant(...), ast.Constant(None)], Load), Load)
            says = f"`{{old}}` counts where `{site.show(operand)}` is False, too"
            fix = f"Multiply it by `{ast.unparse(rows)}`, which is 0 there."
            yield site.make(ast.BinOp(node, ast.Mult(), rows), says, fix, rank=USUAL, adds=True)
        if not sample.is_numeric or ast.dump(operand) in own:
            continue
        is_spread = whole is not None and sample.shape == whole and fits(value.shape, whole)  # one for each
        if not is_spread and not fits(value.shape, sample.shape, value.shape):
            continue
        some += 1
        if some > MOST_TERMS:
            break
        is_unread = isinstance(operand, ast.Name) and operand.id in site.unread
        base = USUAL if is_unread or (is_whole and sample.shape == value.shape) else UNUSUAL
        if _is_bias(node, operand):
            base = LIKELY
        shown = site.show(operand)
        for operator, says in (
            (ast.Add(), f"`{shown}` is not added to `{{old}}`"),
            (ast.Mult(), f"the factor `{shown}` is missing in `{{old}}`"),
            (ast.Sub(), f"`{shown}` is not subtracted from `{{old}}`"),
            (ast.Div(), f"`{{old}}` is not divided by `{shown}`"),
        ):
            if isinstance(operator, ast.Div) and sample.shape and sample.shape != value.shape and not is_unread:
                continue
            if _is_of_whole(site, operator) or (is_spread and not isinstance(operator, ast.Mult)):
                continue
            yield site.make(ast.BinOp(node, operator, operand), says, rank=base, adds=True)


def _whole_of(site: Site) -> tuple[int, ...] | None:
    """Return the shape of a sum of which a smaller value is a term; None for what is no such term."""
    value, parent = site.value(), site.parent
    if value is None or not isinstance(parent, ast.BinOp) or not isinstance(parent.op, (ast.Add, ast.Sub)):
        return None
    whole = site.value(parent)
    return whole.shape if whole is not None and len(whole.shape) > len(value.shape) else None


def _is_of_whole(site: Site, operator: ast.operator) -> bool:
    """Say whether an operation on a part is one on all of what the part stands in, where it is tried as well."""
    parent = site.parent
    pairs = ((ast.Add, ast.Sub), (ast.Mult, ast.Div))
    is_same = isinstance(parent, ast.BinOp) and any(
        isinstance(parent.op, pair) and isinstance(operator, pair) for pair in pairs
    )
    return is_same and isinstance(site.parent_of(parent), OUTER)


def _is_bias(node: ast.AST, operand: ast.AST) -> bool:
    name = getattr(operand, "id", getattr(operand, "attr", "")).lower()
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult) and (name[:1] == "b" or "bias" in name)


@edit("factor-missing", ast.Tuple, rank=USUAL)
def factor_of_all(site: Site) -> Iterator[Made]:
    """Yield a tuple of whole numbers of which each is multiplied by one that is at hand: indices without the stride."""
    node, parent = site.node, site.parent
    values = [site.value(each) for each in node.elts]
    is_whole = isinstance(parent, (ast.Assign, ast.Return)) and parent.value is site.node
    if not is_whole or not 1 < len(values) < FEW:
        return
    if not all(each is not None and each.kind == "number" and each.dtype == "i" for each in values):
        return
    for operand, sample in site.operands:
        if sample.kind == "number" and sample.dtype == "i" and not any(is_same(operand, each) for each in node.elts):
            is_unread = isinstance(operand, ast.Name) and operand.id in site.unread
            elts = [ast.BinOp(each, ast.Mult(), operand) for each in node.elts]
            says = f"the factor `{site.show(operand)}` is missing in `{{old}}`"
            yield site.make(replaced(node, elts=elts), says, rank=LIKELY if is_unread else UNUSUAL, adds=True)


@edit("index-of-pair", ast.Name, ast.Call, rank=USUAL)
def index_of_pair(site: Site) -> Iterator[Made]:
    """Yield `i // 2` where each place has a value of its own, and two neighbours share one."""
    value, parent = site.value(), site.parent
    is_part = isinstance(parent, ast.BinOp) and isinstance(parent.op, (ast.Mult, ast.Div))
    if value is None or not is_part or value.dtype != "i" or len(value.shape) > 1:
        return
    if value.shape or isinstance(site.node, ast.Name):
        says = "`{old}` differs in each place, and two neighbouring places share one value: `{new}`"
        yield site.make(ast.BinOp(site.node, ast.FloorDiv(), number(2)), says, adds=True)


@edit("size-missing", ast.BinOp, ast.Name, ast.Call, rank=UNUSUAL)
def size_missing(site: Site) -> Iterator[Made]:
    """Yield a value divided by, or times, the number of something that is at hand."""
    value = site.value()
    is_term = isinstance(site.parent, ast.BinOp) and isinstance(site.parent.op, (ast.Add, ast.Sub))
    if value is None or not value.is_real or not (is_term or isinstance(site.parent, WHOLE)):
        return
    several = [(name, each) for name, each in site.names.items() if each.kind in ("array", "sequence") and each.shape]
    for name, sample in several[-MOST_SIZES:]:
        if sample.kind == "array" and sample.shape[0] > 1:
            size = ast.Subscript(ast.Attribute(ast.Name(name, Load), "shape", Load), ast.Constant(0), Load)
            says = f"`{{old}}` is not divided by the number of rows of `{name}`"
            yield site.make(ast.BinOp(site.node, ast.Div(), size), says, adds=True, rank=USUAL)
            says = f"`{{old}}` is not multiplied by the number of rows of `{name}`"
            is_mean = isinstance(site.parent, ast.AugAssign) and isinstance(site.node, ast.Call)
            is_mean = is_mean and name in loaded(site.node) and any(name in stored(loop) for loop in site.loops)
            new = ast.BinOp(site.node, ast.Mult(), size)
            yield site.make(new, says, adds=True, rank=LIKELY if is_mean else UNUSUAL)
        elif sample.kind == "sequence" and sample.shape[:1] > (1,):
            length = ast.Call(ast.Name("len", Load), [ast.Name(name, Load)], [])
            yield site.make(
                ast.BinOp(site.node, ast.Div(), length),
                f"`{{old}}` is not divided by the length of `{name}`",
                adds=True,
            )


@edit("power-wrong", ast.Name, ast.BinOp, ast.Subscript, ast.Attribute, ast.Call, rank=USUAL)
def power_wrong(site: Site) -> Iterator[Made]:
    """Yield a value squared, or its root."""
    value = site.number
    if value is None:
        return
    if isinstance(site.parent, ast.BinOp) and isinstance(site.parent.op, ast.Pow):
        return
    if not isinstance(site.parent, (ast.BinOp, ast.Call, ast.Return, ast.Assign, ast.AugAssign)):
        return
    inside = isinstance(site.parent, ast.BinOp) and isinstance(site.parent.op, (ast.Mult, ast.Div))
    rank = USUAL if inside or called(site.parent) in ("sum", "mean", "sqrt") else UNUSUAL
    yield site.make(named("sqrt", site.node), "the root of `{old}` is needed", rank=rank, adds=True)
    yield site.make(
        ast.BinOp(site.node, ast.Pow(), ast.Constant(2)), "the square of `{old}` is needed", rank=rank, adds=True
    )


@edit("complement-missing", ast.Name, ast.BinOp, ast.Subscript, ast.Attribute, ast.Call, rank=UNUSUAL)
def complement_missing(site: Site) -> Iterator[Made]:
    """Yield `1 - x` for `x`."""
    value = site.number
    if value is None:
        return
    if isinstance(site.parent, (ast.BinOp, ast.Return, ast.Assign, ast.Call, ast.Compare)):
        new = ast.BinOp(number(1), ast.Sub(), site.node)
        yield site.make(new, "`1 - …` is missing around `{old}`", adds=True)


@edit("square-for-spread", ast.Call, rank=LIKELY)
def square_for_spread(site: Site) -> Iterator[Made]:
    """Yield the mean of the squares for a variance, which subtracts the mean first, and the variance for that mean."""
    node, name = site.node, called(site.node)
    is_method = isinstance(node.func, ast.Attribute) and root_name(node.func.value) not in ("np", "numpy")
    if name in ("var", "std") and (is_method or node.args):
        array = node.func.value if is_method else node.args[0]
        rest = node.args if is_method else node.args[1:]
        keywords = {each.arg: each.value for each in node.keywords if each.arg not in (None, "ddof")}
        squares = replaced(named("mean", ast.BinOp(array, ast.Pow(), number(2)), **keywords))
        squares = replaced(squares, args=[*squares.args, *rest])
        new: ast.expr = squares if name == "var" else named("sqrt", squares)
        says = f"`{{old}}` subtracts the mean of `{site.show(array)}` first, and must not"
        yield site.make(new, says, adds=False)
    inner = node.args[0] if name == "mean" and node.args and not is_method else None
    base = _squared(inner)
    if base is not None:
        new = replaced(node, func=replaced(node.func, attr="var"), args=[base, *node.args[1:]])
        yield site.make(new, f"`{{old}}` does not subtract the mean of `{site.show(base)}` first")


def _squared(node: ast.AST | None) -> ast.expr | None:
    """Return what an expression is the square of."""
    match node:
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=2)):
            return left
        case ast.BinOp(left=left, op=ast.Mult(), right=right) if is_same(left, right):
            return left
        case ast.Call(args=[one]) if called(node) == "square":
            return one
    return None


@edit("norms-added", ast.AugAssign, rank=USUAL)
def norms_added(site: Site) -> Iterator[Made]:
    """Yield the root of a sum of squares where a loop adds up what it returns the sum of: norms of rows."""
    node, last = site.node, site.definition.body[-1]
    is_added = isinstance(node.op, ast.Add) and isinstance(node.target, ast.Name) and site.is_in_loop
    if not is_added or not isinstance(last, ast.Return) or last.value is None or isinstance(node.value, ast.Constant):
        return
    if node.target.id in loaded(last):
        square, root = ast.BinOp(node.value, ast.Pow(), number(2)), named("sqrt", last.value)
        says = f"the values of `{site.show(node.value)}` are added, and their squares have to be"
        fix = "Add the squares, and take the root of the sum."
        yield site.make(square, says, fix, old=node.value, also=((last.value, root),), adds=True)


@edit("norms-added", ast.Call, rank=LIKELY)
def norm_of_each(site: Site) -> Iterator[Made]:
    """Yield the root of the sum of all squares where the largest of several norms, or their sum, is taken."""
    node = site.node
    inner = node.args[0] if len(node.args) == 1 and called(node) in ("max", "sum") else None
    if not isinstance(inner, (ast.GeneratorExp, ast.ListComp)):
        return
    match inner.elt:
        case ast.Call(func=func, args=[square]) if called(inner.elt) == "sqrt":
            root, part = func, square
        case ast.Call() if called(inner.elt) == "norm":
            root, part = ast.Attribute(ast.Name("np", Load), "sqrt", Load), ast.BinOp(inner.elt, ast.Pow(), number(2))
        case _:
            return
    whole = ast.Call(ast.Name("sum", Load), [replaced(inner, elt=part)], [])
    says = "`{old}` is made of the norm of each by itself, and that of all together is needed"
    yield site.make(ast.Call(root, [whole], []), says, "Add all squares, and take the root of the sum.")


@edit("sum-missing", ast.BinOp, ast.Name, ast.Call, ast.Subscript, rank=USUAL)
def sum_missing(site: Site) -> Iterator[Made]:
    """Yield the sum or the mean of a value, over all of it or along an axis, and the largest of sizes."""
    value = site.number
    if value is None or value.kind != "array" or not isinstance(site.parent, WHOLE) or called(site.node) in FILLED:
        return
    if called(site.node) in ("abs", "absolute"):
        yield site.make(named("max", site.node), "the largest entry of `{old}` is needed", adds=True)
    for axis in (None, *range(len(value.shape))):
        for function in ("sum", "mean"):
            keywords = {} if axis is None else {"axis": number(axis)}
            along = "" if axis is None else f" along axis {axis}"
            says = f"`{{old}}` is not {'summed' if function == 'sum' else 'averaged'}{along}"
            yield site.make(named(function, site.node, **keywords), says, adds=True)


@edit("step-missing", ast.Name, ast.Subscript, ast.Attribute, ast.Call, rank=UNUSUAL)
def step_missing(site: Site) -> Iterator[Made]:
    """Yield a value with a function taken of it: `exp(x)`, `log(x)`."""
    if site.number is None or not isinstance(site.parent, (*WHOLE, ast.BinOp, ast.Call)):
        return
    for function in ("exp", "log"):
        if called(site.parent) != function and called(site.node) != function:
            yield site.make(named(function, site.node), f"`{function}` of `{{old}}` is needed", adds=True)


@edit("own-step-missing", ast.Name, ast.BinOp, ast.Call, ast.Subscript, rank=RARE)
def own_step_missing(site: Site) -> Iterator[Made]:
    """Yield a value with a function of the module, or one that is passed, taken of it."""
    value = site.value()
    if value is None:
        return
    if not isinstance(site.parent, WHOLE) and not (isinstance(site.parent, ast.Call) and value.kind == "sequence"):
        return
    for name, function in site.module.functions.items():
        wanted = len(function.args.args) - len(function.args.defaults)
        if (
            "." not in name
            and wanted == 1
            and name != site.function
            and called(site.node) != name
            and called(site.parent) != name
            and site.function not in site.module.reached(name)  # each would call the other, without an end
        ):
            new = ast.Call(ast.Name(name, Load), [site.node], [])
            yield site.make(new, f"`{name}` of `{{old}}` is needed", adds=True)
        elif name == site.function and value.kind == "sequence" and site.is_in_loop and called(site.parent) != name:
            new = ast.Call(ast.Name(name, Load), [site.node], [])
            says = f"what `{{old}}` holds may hold more of its sort, and `{name}` of it is needed"
            yield site.make(new, says, adds=True, rank=USUAL)
    for name, sample in site.names.items():
        if sample.kind == "function" and name != root_name(site.node) and called(site.node) != name:
            yield site.make(
                ast.Call(ast.Name(name, Load), [site.node], []), f"`{name}` of `{{old}}` is needed", adds=True
            )


@edit("term-twice", ast.BinOp, ast.Call, rank=UNUSUAL)
def term_twice(site: Site) -> Iterator[Made]:
    """Yield a constant factor that is missing, of a value or of one of its terms: twice, half."""
    node, parent = site.node, site.parent
    is_term = isinstance(parent, ast.BinOp) and isinstance(parent.op, (ast.Add, ast.Sub))
    if isinstance(node, ast.Call):
        is_product, is_scaled = isinstance(parent, ast.AugAssign) and site.number is not None, False
    else:
        is_product = isinstance(node.op, (ast.Mult, ast.Div, ast.MatMult)) or not is_term
        is_scaled = bool(number_in(node.left) or number_in(node.right))
    if (isinstance(parent, WHOLE) or is_term) and is_product and not is_scaled:
        says = "a factor of {n} is missing in `{{old}}`"
        yield site.make(ast.BinOp(number(2), ast.Mult(), node), says.format(n=2), adds=True)
        yield site.make(ast.BinOp(node, ast.Div(), number(2)), says.format(n="1/2"), adds=True)


@edit("argument-scaled", ast.Name, ast.BinOp, ast.UnaryOp, ast.Subscript, ast.Attribute, rank=USUAL)
def argument_scaled(site: Site) -> Iterator[Made]:
    """Yield half and twice of what a function that is no straight line is taken of: tanh(z / 2) for tanh(z)."""
    value = site.number
    is_given = called(site.parent) in CURVED and site.parent.args[:1] == [site.node]
    if is_given and value is not None:
        for operator, says in ((ast.Div(), "half of `{old}` is needed"), (ast.Mult(), "twice `{old}` is needed")):
            yield site.make(ast.BinOp(site.node, operator, number(2)), says, adds=True)
