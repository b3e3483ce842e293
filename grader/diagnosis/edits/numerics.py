"""Edits for floating-point numbers: overflow, logarithms of 0, division by 0, whole numbers, empty input."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.course.mutants import replaced
from grader.course.table import together
from grader.diagnosis.edits.base import (
    EXTREMES,
    LIKELY,
    SURE,
    UNUSUAL,
    USUAL,
    Load,
    Made,
    Site,
    edit,
    named,
    number,
    written,
)
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


@edit("infinite-difference", ast.BinOp, rank=LIKELY)
def infinite_difference(site: Site) -> Iterator[Made]:
    """Yield a difference that takes 0 away where the right side is infinite."""
    if isinstance(site.node.op, ast.Sub):
        for each in (each for each in walk(site.node.right) if isinstance(each, ast.Name) and site.was_infinite(each)):
            new = written("np.where(np.isfinite(NAME), NAME, 0)", NAME=each)
            says = "`{old}` may be infinite, and what is infinite less itself is NaN"
            yield site.make(new, says, "Take 0 away there: `{new}`.", old=each)


@edit("whole-numbers", ast.Call, rank=UNUSUAL)
def whole_numbers(site: Site) -> Iterator[Made]:
    """Yield floats where an array holds whole numbers, which cut off what is stored in them."""
    value = site.value()
    if value is None or value.kind != "array" or value.dtype not in "ib" or called(site.node) not in MAKERS:
        return
    is_out = isinstance(site.parent, ast.keyword) and site.parent.arg == "out"
    if is_out or (isinstance(site.parent, ast.Assign) and _may_cut(site, site.parent.targets[0])):
        new = ast.Call(ast.Attribute(site.node, "astype", Load), [ast.Name("float", Load)], [])
        says = "`{old}` holds whole numbers, and what is stored in it is cut off"
        rank = LIKELY if not is_out and _is_cut(site, site.parent.targets[0]) else UNUSUAL
        yield site.make(new, says, "Make it an array of floats.", adds=True, rank=rank)


def _may_cut(site: Site, target: ast.expr) -> bool:
    """Say whether entries of a name are set, not all of them to what is known to be a whole number."""
    stores = (each for each in walk(site.definition) if isinstance(each, ast.Subscript))
    filled = [each for each in stores if isinstance(each.ctx, ast.Store) and is_same_name(each.value, target)]
    lines = (each for each in walk(site.definition) if isinstance(each, ast.Assign))
    whole = [each for each in lines if _is_entry(each.targets[0], target) and _is_whole(site, each.value)]
    return len(filled) > len(whole)


def _is_whole(site: Site, node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int)
    value = site.value(node)
    return value is not None and value.is_numeric and not value.is_real


def _is_cut(site: Site, target: ast.expr) -> bool:
    """Say whether what entries of a name are set to has fractions."""
    stores = (each for each in walk(site.definition) if isinstance(each, ast.Assign))
    values = (site.value(each.value) for each in stores if _is_entry(each.targets[0], target))
    return any(value is not None and value.is_real for value in values)


def _is_entry(node: ast.AST, of: ast.expr) -> bool:
    return isinstance(node, ast.Subscript) and is_same_name(node.value, of)


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
    shown = together(f"`{name}`" for name in names)
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


@edit("maximum-of-nothing", ast.Call, rank=SURE)
def maximum_of_nothing(site: Site) -> Iterator[Made]:
    """Yield max or min with an answer for what is empty, of which there is none."""
    node, is_own = site.node, isinstance(site.node.func, ast.Name)
    if called(node) not in EXTREMES or not site.is_raised("ValueError"):
        return
    infinite = ast.UnaryOp(ast.USub(), ast.Attribute(ast.Name("np", Load), "inf", Load))
    for value in [number(0)] if is_own else [number(0), infinite]:
        new = replaced(node, keywords=[*node.keywords, ast.keyword("default" if is_own else "initial", value)])
        yield site.make(new, "`{old}` fails where there is nothing to take it of", adds=True)
