"""What goes wrong with floating-point numbers: overflow, logarithms of 0, division by 0, whole numbers, empty input."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.course.mutants import replaced
from grader.diagnosis.edits.base import LIKELY, UNUSUAL, USUAL, Load, Made, Site, edit, named, number
from grader.diagnosis.module_text import called, loaded, parameters
from grader.diagnosis.trees import walk
from grader.diagnosis.values import Sample

WHOLE = ("i", "u")  # the kinds of dtypes of whole numbers
MAKERS = ("zeros_like", "ones_like", "empty_like", "full_like", "array", "asarray", "copy", "zeros", "ones", "full")


@edit("exponent-unshifted", ast.Call, rank=USUAL)
def exponent_unshifted(site: Site) -> Iterator[Made]:
    """Yield the powers of what the largest value is subtracted from, so that none overflows."""
    node = site.node
    if called(node) != "exp" or len(node.args) != 1:
        return
    array = node.args[0]
    sample = site.value(array)
    if sample is None or sample.kind != "array":
        return
    says = "`{old}` overflows for large numbers: the largest one is not subtracted first"
    for axis in (
        ast.Constant(None),
        number(-1),
        *(ast.Name(name, Load) for name in parameters(site.definition) if "axis" in name),
    ):
        highest = named("max", array, axis=axis, keepdims=ast.Constant(True))
        shifted = replaced(node, args=[ast.BinOp(array, ast.Sub(), highest)])
        yield site.make(shifted, says, "Subtract the largest value along the axis before `exp`.", adds=True)


@edit("logarithm-of-zero", ast.Call, rank=USUAL)
def logarithm_of_zero(site: Site) -> Iterator[Made]:
    """Yield the logarithm of what is kept away from 0 by an eps that is at hand."""
    node = site.node
    if called(node) not in ("log", "log2", "log10", "sqrt") or len(node.args) != 1:
        return
    for operand, sample in site.operands:
        if sample.kind == "number" and isinstance(sample.value, float) and 0 < sample.value < 1e-2:
            says = f"`{{old}}` is taken at 0 too: `{site.show(operand)}` is not used"
            yield site.make(replaced(node, args=[ast.BinOp(node.args[0], ast.Add(), operand)]), says, adds=True)
            yield site.make(replaced(node, args=[named("maximum", node.args[0], operand)]), says, adds=True)
            upper = ast.BinOp(number(1), ast.Sub(), operand)
            yield site.make(replaced(node, args=[named("clip", node.args[0], operand, upper)]), says, adds=True)


@edit("division-by-zero", ast.BinOp, rank=UNUSUAL)
def division_by_zero(site: Site) -> Iterator[Made]:
    """Yield a quotient that is 0, or what is divided, where the divisor is 0."""
    node = site.node
    if not isinstance(node.op, ast.Div):
        return
    sample = site.value(node.right)
    says = "`{old}` is also computed where the divisor is 0"
    if sample is not None and sample.kind == "array":
        is_zero = ast.Compare(node.right, [ast.Eq()], [number(0)])
        yield site.make(
            replaced(node, right=named("where", is_zero, number(1), node.right)), says, "Divide by 1 there.", adds=True
        )
        yield site.make(
            replaced(node, right=named("maximum", node.right, number(1))), says, "Divide by 1 at least.", adds=True
        )
    elif sample is not None and sample.kind == "number":
        is_zero = ast.Compare(node.right, [ast.NotEq()], [number(0)])
        yield site.make(ast.IfExp(is_zero, node, number(0.0)), says, "Return 0 there.", adds=True)
        yield site.make(ast.IfExp(is_zero, node, node.left), says, "Divide by 1 there.", adds=True)
    for operand, small in site.operands:
        if small.kind == "number" and isinstance(small.value, float) and 0 < small.value < 1e-2:
            eps = f"`{site.show(operand)}` is not added to the divisor of `{{old}}`"
            yield site.make(replaced(node, right=ast.BinOp(node.right, ast.Add(), operand)), eps, adds=True, rank=USUAL)
            yield site.make(replaced(node, right=named("maximum", node.right, operand)), eps, adds=True, rank=USUAL)


@edit("whole-numbers", ast.Call, rank=UNUSUAL)
def whole_numbers(site: Site) -> Iterator[Made]:
    """Yield floats where an array holds whole numbers, which cut off what is stored in them."""
    value = site.value()
    if value is None or value.kind != "array" or value.dtype not in "ib" or called(site.node) not in MAKERS:
        return
    is_out = isinstance(site.parent, ast.keyword) and site.parent.arg == "out"
    if is_out or (isinstance(site.parent, ast.Assign) and _is_filled(site, site.parent.targets[0])):
        new = ast.Call(ast.Attribute(site.node, "astype", Load), [ast.Name("float", Load)], [])
        yield site.make(
            new,
            "`{old}` holds whole numbers, and what is stored in it is cut off",
            "Make it an array of floats.",
            adds=True,
        )


def _is_filled(site: Site, target: ast.expr) -> bool:
    """Say whether entries of a name are set."""
    stores = (each for each in walk(site.definition) if isinstance(each, ast.Subscript))
    return any(isinstance(each.ctx, ast.Store) and is_same_name(each.value, target) for each in stores)


def is_same_name(one: ast.AST, other: ast.AST) -> bool:
    """Say whether two nodes are one name."""
    return isinstance(one, ast.Name) and isinstance(other, ast.Name) and one.id == other.id


@edit("whole-numbers-overflow", ast.Assign, ast.AugAssign, ast.Return, ast.Expr, rank=LIKELY)
def whole_numbers_overflow(site: Site) -> Iterator[Made]:
    """Yield a line that computes in floats where its arrays hold whole numbers."""
    results = (site.value(each) for each in walk(site.node) if isinstance(each, (ast.BinOp, ast.UnaryOp)))
    is_whole = any(each is not None and each.kind == "array" and each.dtype in WHOLE for each in results)
    names = [name for name in sorted(loaded(site.node)) if _holds_whole_numbers(site.names.get(name))]
    if not is_whole or not names:
        return
    made = [
        ast.Assign(
            [ast.Name(name, ast.Store())],
            ast.Call(ast.Attribute(ast.Name(name, Load), "astype", Load), [ast.Name("float", Load)], []),
        )
        for name in names
    ]
    shown = " and ".join(f"`{name}`" for name in names)
    says = f"{shown} may hold whole numbers, and `{{line}}` goes beyond their range"
    fix = f"Convert {'it' if len(names) == 1 else 'them'} first, with `.astype(float)`."
    yield site.make([*made, site.node], says, fix, adds=True)


def _holds_whole_numbers(sample: Sample | None) -> bool:
    return sample is not None and sample.kind == "array" and sample.dtype in WHOLE


@edit("dtype-lost", ast.Call, rank=USUAL)
def dtype_lost(site: Site) -> Iterator[Made]:
    """Yield an array made in the dtype of an array that is at hand."""
    node = site.node
    if called(node) not in ("zeros", "ones", "empty", "full", "eye", "arange", "array", "asarray", "linspace"):
        return
    others = [each for each in node.keywords if each.arg != "dtype"]
    for name, sample in site.names.items():
        if sample.kind == "array" and sample.is_real:
            dtype = ast.keyword("dtype", ast.Attribute(ast.Name(name, Load), "dtype", Load))
            yield site.make(
                replaced(node, keywords=[*others, dtype]), f"`{{old}}` does not have the dtype of `{name}`", adds=True
            )


@edit("maximum-of-nothing", ast.Call, rank=USUAL)
def maximum_of_nothing(site: Site) -> Iterator[Made]:
    """Yield max or min of an empty sequence with a default."""
    node = site.node
    is_plain = isinstance(node.func, ast.Name) and node.func.id in ("max", "min")
    if is_plain and len(node.args) == 1 and site.statement is site.context.raising:
        for value in (number(0), ast.Constant(None)):
            more = [*node.keywords, ast.keyword("default", value)]
            yield site.make(
                replaced(node, keywords=more), "`{old}` fails where there is nothing to take it of", adds=True
            )


@edit("bounded", ast.Name, ast.BinOp, ast.Call, ast.Subscript, rank=UNUSUAL)
def bounded(site: Site) -> Iterator[Made]:
    """Yield a number that is at least 0 or 1, or at most 1."""
    value = site.read_number
    if value is None or not isinstance(site.parent, (ast.Return, ast.Assign, ast.BinOp, ast.Slice)):
        return
    is_array = value.kind == "array"
    for function, limit in (("max", 0), ("min", 1), ("max", 1)):
        if function == "min" and not value.is_real:  # of a size or a count
            continue
        if is_array:
            new: ast.expr = named("maximum" if function == "max" else "minimum", site.node, number(limit))
        else:
            new = ast.Call(ast.Name(function, Load), [site.node, number(limit)], [])
        word = "below" if function == "max" else "above"
        yield site.make(
            new,
            f"`{{old}}` may fall {word} {limit}" if word == "below" else f"`{{old}}` may rise above {limit}",
            adds=True,
        )
