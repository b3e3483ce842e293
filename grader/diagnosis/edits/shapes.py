"""Axes in another order, too many or too few: transposes, reshapes, broadcasting."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import permutations, product

from grader.course.mutants import replaced
from grader.diagnosis.edits.base import (
    LIKELY,
    RARE,
    SURE,
    UNUSUAL,
    USUAL,
    Load,
    Made,
    Site,
    edit,
    is_equal,
    named,
    number,
    number_in,
)
from grader.diagnosis.edits.calls import is_library
from grader.diagnosis.module_text import called
from grader.diagnosis.trees import walk

MOST_AXES = 4
MOST_LETTERS = 24
NONE = ast.Constant(None)


def swapped(node: ast.expr) -> ast.expr:
    """Return an expression with its last two axes swapped; of one that swaps them, what it swaps them of."""
    if isinstance(node, ast.Attribute) and node.attr == "T":
        return node.value
    if isinstance(node, ast.Call) and called(node) == "swapaxes" and node.args:
        return node.args[0] if len(node.args) == 3 else getattr(node.func, "value", node)
    return named("swapaxes", node, number(-1), number(-2))


@edit("transpose-missing", ast.Name, ast.Attribute, ast.BinOp, ast.Call, ast.Subscript, rank=UNUSUAL)
def transpose_missing(site: Site) -> Iterator[Made]:
    """Yield an array with its last two axes swapped."""
    value = site.value()
    if value is None or value.kind != "array" or len(value.shape) < 2 or isinstance(site.parent, ast.Attribute):
        return
    is_product = isinstance(site.parent, ast.BinOp) and isinstance(site.parent.op, ast.MatMult)
    rank = LIKELY if is_product else USUAL if isinstance(site.parent, (ast.Return, ast.Assign, ast.Tuple)) else RARE
    if isinstance(site.node, ast.Attribute) and site.node.attr == "T":
        return
    new: ast.expr = swapped(site.node) if len(value.shape) > 2 else ast.Attribute(site.node, "T", Load)
    yield site.make(new, "`{old}` is not transposed", adds=True, rank=rank)


@edit("transpose-superfluous", ast.Attribute, rank=LIKELY)
def transpose_superfluous(site: Site) -> Iterator[Made]:
    """Yield an array that is not transposed, and one of which only the last two axes are swapped."""
    node = site.node
    if node.attr != "T":
        return
    yield site.make(node.value, "`{old}` is transposed, and must not be")
    sample = site.value(node.value)
    if sample is None or len(sample.shape) != 2:
        says = "`{old}` reverses all axes, and only the last two have to be swapped"
        yield site.make(named("swapaxes", node.value, number(-1), number(-2)), says)


@edit("identity-missing", ast.Call, rank=LIKELY)
def identity_missing(site: Site) -> Iterator[Made]:
    """Yield the identity for a square table of ones or zeros, and the other way round."""
    node, value = site.node, site.value()
    if value is None or value.kind != "array" or len(value.shape) != 2 or value.shape[0] != value.shape[1]:
        return
    if called(node) in ("ones", "zeros", "full") and node.args and isinstance(node.args[0], ast.Tuple):
        keywords = [each for each in node.keywords if each.arg == "dtype"]
        eye = replaced(node, func=replaced(node.func, attr="eye"), args=[node.args[0].elts[0]], keywords=keywords)
        yield site.make(eye, "`{old}` is one number everywhere, and the identity is needed")
    elif called(node) in ("ones_like", "zeros_like", "full_like") and node.args:
        eye = named("eye", ast.Call(ast.Name("len", Load), [node.args[0]], []))
        yield site.make(eye, "`{old}` is one number everywhere, and the identity is needed")
    elif called(node) in ("eye", "identity") and len(node.args) == 1:
        shape = ast.Tuple([node.args[0], node.args[0]], Load)
        for name in ("ones", "zeros"):
            new = replaced(node, func=replaced(node.func, attr=name), args=[shape])
            yield site.make(new, f"`{{old}}` is the identity, and {name} are needed everywhere", rank=UNUSUAL)


@edit("identity-missing", ast.BinOp, rank=USUAL)
def diagonal_missed(site: Site) -> Iterator[Made]:
    """Yield a number on the diagonal of a square table, where it is added everywhere."""
    node, table, value = site.node, site.value(site.node.left), site.value(site.node.right)
    if not isinstance(node.op, (ast.Add, ast.Sub)) or table is None or value is None or value.kind != "number":
        return
    if table.kind == "array" and len(table.shape) == 2 and table.shape[0] == table.shape[1]:
        eye = named("eye", ast.Call(ast.Name("len", Load), [node.left], []))
        word = "added to" if isinstance(node.op, ast.Add) else "subtracted from"
        shown = site.show(node.right)
        says = f"`{shown}` is {word} every entry of `{site.show(node.left)}`, and not its diagonal alone"
        fix = f"Multiply `{shown}` by the identity."
        yield site.make(replaced(node, right=ast.BinOp(node.right, ast.Mult(), eye)), says, fix, adds=True)


@edit("axes-order", ast.Call, rank=LIKELY)
def axes_order(site: Site) -> Iterator[Made]:
    """Yield a transpose with its axes in another order, and a swap of two other axes."""
    node = site.node
    name = called(node)
    if name == "transpose":
        offset = 1 if is_library(getattr(node.func, "value", node)) else 0
        given = node.args[offset:]
        whole = given[0] if len(given) == 1 and isinstance(given[0], (ast.Tuple, ast.List)) else None
        axes = [number_in(each) for each in (whole.elts if whole is not None else given)]
        if not axes or None in axes or len(axes) > MOST_AXES:
            return
        for order in permutations(range(len(axes))):
            if list(order) != axes:
                elts: list[ast.expr] = [number(each) for each in order]
                args = [replaced(whole, elts=elts)] if whole is not None else elts
                says = "the axes of `{old}` are in the wrong order"
                yield site.make(replaced(node, args=[*node.args[:offset], *args]), says)
    elif name in ("swapaxes", "moveaxis", "rollaxis") and len(node.args) >= 2:
        pair = node.args[-2:]
        array = node.args[0] if len(node.args) == 3 else getattr(node.func, "value", None)
        sample = site.value(array) if array is not None else None
        size = len(sample.shape) if sample is not None else 3
        for one in range(size):
            for other in range(one + 1, size):
                args = [*node.args[:-2], number(one - size), number(other - size)]
                if [number_in(each) for each in pair] != [one - size, other - size]:
                    yield site.make(replaced(node, args=args), "`{old}` swaps the wrong axes", rank=USUAL)


@edit("reshape-order", ast.Call, rank=USUAL)
def reshape_order(site: Site) -> Iterator[Made]:
    """Yield a reshape with its sizes in another order, or with a transpose before or behind it."""
    node = site.node
    if called(node) != "reshape":
        return
    is_function = is_library(getattr(node.func, "value", node))
    array = node.args[0] if is_function and node.args else getattr(node.func, "value", node)
    given = node.args[1:] if is_function else node.args
    whole = given[0] if len(given) == 1 and isinstance(given[0], (ast.Tuple, ast.List)) else None
    sizes = list(whole.elts) if whole is not None else list(given)

    def form(elts: list[ast.expr], of: ast.expr) -> ast.expr:
        inner = [replaced(whole, elts=elts)] if whole is not None else elts
        if is_function:
            made: ast.expr = replaced(node, args=[of, *inner])
        else:
            made = replaced(node, func=replaced(node.func, value=of), args=inner)
        return made

    count = len(sizes)
    if 1 < count <= MOST_AXES:
        for order in permutations(range(count)):
            if list(order) == list(range(count)):
                continue
            moved = [sizes[each] for each in order]
            says = "`{old}` keeps the order of the numbers in memory, and mixes what belongs to different axes"
            back = [number(order.index(each)) for each in range(count)]
            turned = ast.Call(ast.Attribute(form(moved, array), "transpose", Load), back, [])
            yield site.make(turned, says, "Reshape to `{new}`.", rank=USUAL, adds=True)
            if count < MOST_AXES:
                yield site.make(form(moved, array), "the sizes in `{old}` are in the wrong order", rank=USUAL)
    sample = site.value(array)
    axes = len(sample.shape) if sample is not None else 0
    if 1 < axes <= MOST_AXES:
        for order in permutations(range(axes)):
            if list(order) != list(range(axes)):
                of = ast.Call(ast.Attribute(array, "transpose", Load), [number(each) for each in order], [])
                says = f"`{site.show(array)}` is reshaped before its axes are brought into order"
                yield site.make(form(sizes, of), says, "Transpose it first: `{new}`.", rank=USUAL, adds=True)


@edit("einsum-letters", ast.Constant, rank=LIKELY)
def einsum_letters(site: Site) -> Iterator[Made]:
    """Yield the letters of einsum with two of one array exchanged, or one that is another of them."""
    text = site.node.value
    if called(site.parent) != "einsum" or not isinstance(text, str) or "->" not in text:
        return
    parts = re.split("(,|->)", text.replace(" ", ""))
    letters = sorted({each for each in text if each.isalpha()})
    for place, part in enumerate(parts):
        pairs = [(one, other) for one, other in product(part, letters) if one.isalpha() and one != other]
        for one, other in pairs[:MOST_LETTERS]:
            form = part.translate(str.maketrans(one + other, other + one))
            new = ast.Constant("".join((*parts[:place], form, *parts[place + 1 :])))
            if other not in part:
                says = f"`{one}` is used in `{part}` of `{{old}}` where `{other}` is needed"
                yield site.make(new, says, f"Write `{other}` there.")
            elif one < other:
                says = f"`{one}` and `{other}` are exchanged in `{part}` of `{{old}}`"
                yield site.make(new, says, "Exchange them there.")


@edit("all-pairs", ast.BinOp, ast.Compare, rank=LIKELY)
def all_pairs(site: Site) -> Iterator[Made]:
    """Yield operands of one shape where (n,) against (n, 1) gives a table of all pairs."""
    node = site.node
    left, right = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.left, node.comparators[0])
    one, other, value = site.value(left), site.value(right), site.value()
    if one is None or other is None or not one.shape or not other.shape or len(one.shape) == len(other.shape):
        return
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        return
    if value is not None and len(value.shape) > 1 and value.shape in (one.shape, other.shape):
        return
    says = f"shapes {one.shape} and {other.shape} broadcast to all pairs in `{{old}}`"
    for side, inner, mine, theirs in (("left", left, one, other), ("right", right, other, one)):
        form: ast.expr
        if len(mine.shape) == 1 and len(theirs.shape) == 2:
            form = ast.Subscript(inner, ast.Tuple([ast.Slice(), NONE], Load), Load)
        elif len(mine.shape) == 2 and 1 in mine.shape and len(theirs.shape) == 1:
            form = ast.Call(ast.Attribute(inner, "ravel", Load), [], [])
        else:
            continue
        if isinstance(node, ast.BinOp):
            yield site.make(replaced(node, **{side: form}), says, "Give both one shape: `{new}`.", adds=True)
        else:
            new = (
                replaced(node, left=form)
                if side == "left"
                else replaced(node, comparators=[form, *node.comparators[1:]])
            )
            yield site.make(new, says, "Give both one shape: `{new}`.", adds=True)


@edit("axes-order", ast.BinOp, rank=LIKELY)
def axes_added_crosswise(site: Site) -> Iterator[Made]:
    """Yield all pairs with their axes exchanged: `a[:, None] + b[None, :]` for `a[None, :] + b[:, None]`."""
    match site.node.left, site.node.right:
        case ast.Subscript(slice=ast.Tuple() as one) as left, ast.Subscript(slice=ast.Tuple() as other) as right:
            if all(any(is_equal(each, NONE) for each in index.elts) for index in (one, other)):
                new = replaced(site.node, left=replaced(left, slice=other), right=replaced(right, slice=one))
                says = "the axes that `{old}` adds are exchanged: rows belong to one, columns to the other"
                yield site.make(new, says)


@edit("all-pairs", ast.Call, ast.Subscript, rank=SURE)
def column_of_pairs(site: Site) -> Iterator[Made]:
    """Yield a vector without an axis that makes it a column, where some operation pairs that with a vector."""
    node = site.node
    inner = node.value if isinstance(node, ast.Subscript) else _of_call(node)
    value, before = site.value(), site.value(inner) if inner is not None else None
    if value is None or before is None or len(before.shape) != 1 or value.shape != (*before.shape, 1):
        return
    for pair, one, other in _pairs(site, value.shape):
        says = f"shapes {one} and {other} broadcast to all pairs in `{site.show(pair)}`, since `{{old}}` is a column"
        yield site.make(inner, says, "Give both one shape: leave out the axis that `{old}` adds.")
        return


def _of_call(node: ast.Call) -> ast.expr | None:
    """Return the array that a call gives another shape, as far as it does."""
    if called(node) not in ("reshape", "expand_dims"):
        return None
    is_function = is_library(getattr(node.func, "value", node))
    return next(iter(node.args), None) if is_function else getattr(node.func, "value", None)


def _pairs(site: Site, shape: tuple[int, ...]) -> Iterator[tuple[ast.expr, tuple[int, ...], tuple[int, ...]]]:
    """Yield the operations of the function that pair a column of a shape with a vector of as many entries."""
    for each in walk(site.definition):
        match each:
            case ast.BinOp(left=left, right=right) if not isinstance(each.op, ast.MatMult):
                operands = left, right
            case ast.Compare(left=left, comparators=[right]):
                operands = left, right
            case _:
                continue
        one, other = (getattr(site.value(operand), "shape", ()) for operand in operands)
        if {one, other} == {shape, shape[:1]}:
            yield each, one, other


@edit("axis-added", ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.BinOp, rank=UNUSUAL)
def axis_added(site: Site) -> Iterator[Made]:
    """Yield an array with an axis more, or without its axes of size 1."""
    value = site.value()
    if value is None or value.kind != "array":
        return
    if not isinstance(site.parent, (ast.BinOp, ast.Compare, ast.Return, ast.Assign, ast.Call, ast.Tuple)):
        return
    beside = [each for each in ast.iter_child_nodes(site.parent) if each is not site.node]
    axes = max(len(getattr(site.value(each), "shape", ())) for each in beside or [site.node])
    if isinstance(site.parent, ast.BinOp) and not axes:
        return  # a number goes with every shape
    is_short = 1 < len(value.shape) < axes
    rank = (LIKELY if is_short else USUAL) if isinstance(site.parent, ast.BinOp) else UNUSUAL
    colon = ast.Slice()
    for place in range(len(value.shape) + 1):
        index: list[ast.expr] = [colon] * len(value.shape)
        index.insert(place, NONE)
        new = ast.Subscript(site.node, ast.Tuple(index, Load), Load)
        yield site.make(new, "`{old}` lacks an axis of size 1", adds=True, rank=rank)
    if 1 in value.shape:
        place = value.shape.index(1)
        yield site.make(
            named("squeeze", site.node, axis=number(place)),
            "`{old}` has an axis of size 1 too many",
            adds=True,
            rank=rank,
        )


@edit("axis-of-shape", ast.Subscript, rank=LIKELY)
def axis_of_shape(site: Site) -> Iterator[Made]:
    """Yield the size of another axis."""
    node = site.node
    own = number_in(node.slice)
    if not isinstance(node.value, ast.Attribute) or node.value.attr != "shape" or own is None:
        return
    sample = site.value(node.value.value)
    count = len(sample.shape) if sample is not None else 0
    behind = list(range(-count, 0))
    axes = [*behind, *range(count)] if own < 0 else [*range(count), *behind]
    for axis in axes or (-1, 0, 1):
        if axis != own and (not count or axis % count != int(own) % count):
            new = replaced(node, slice=number(axis))
            yield site.make(new, f"`{{old}}` is the size of axis {own:g}, and that of axis {axis} is needed")
    for name, other in site.names.items():
        inner = getattr(node.value.value, "id", "")
        if other.kind == "array" and name != inner and isinstance(node.value.value, ast.Name):
            new = replaced(node, value=replaced(node.value, value=ast.Name(name, Load)))
            yield site.make(new, f"`{{old}}` is a size of `{inner}`, and that of `{name}` is needed", rank=USUAL)
