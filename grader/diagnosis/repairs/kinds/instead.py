"""What a value is taken for: an entry of an array for the name that was made of it, a largest entry for a length."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from grader.course.changes import replaced
from grader.diagnosis.slips.wording.phrases import called
from grader.diagnosis.trees import is_same, walk

MOST_NAMES = 4
MOST_PARTS = 6
MOST_COUNTS = 2
MOST_ORDERS = 2
ENTRIES = ("max", "sum")  # what is taken in the place of a length
OUTER = (ast.Assign, ast.AugAssign, ast.For, ast.keyword)  # what gives a value its name


def by_name(
    node: ast.AST, holder: ast.AST, values: Mapping[str, Any], value_of: Callable[[ast.AST], Any]
) -> Iterator[ast.AST]:
    """Yield names of the same shape in the place of a part of an array, inside of a formula: v for A[:, j].

    And in the place of a formula to which a part of an array is set: length for v @ v in R[j, j].
    """
    is_kept = isinstance(holder, ast.Assign) and isinstance(holder.targets[0], ast.Subscript)
    is_made = is_kept and isinstance(node, (ast.BinOp, ast.Call)) and getattr(holder, "value", None) is node
    if not is_made and (not is_part(node) or isinstance(holder, OUTER)):
        return
    value = value_of(node)
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f" or not (value.ndim or is_made):
        return
    names = [
        name
        for name, held in values.items()
        if isinstance(held, np.ndarray) and held.shape == value.shape and held.dtype == value.dtype
    ]
    yield from (ast.Name(name, ast.Load()) for name in names[:MOST_NAMES])


def in_order(
    node: ast.AST, holder: ast.AST, values: Mapping[str, Any], value_of: Callable[[ast.AST], Any]
) -> Iterator[ast.AST]:
    """Yield a vector's entries in an order that the function has at hand, in the place of a vector that is given on."""
    given = isinstance(holder, ast.Call) and any(node is each for each in holder.args)
    value = value_of(node) if given and isinstance(node, ast.Name) else None
    if not isinstance(node, ast.Name) or not isinstance(value, np.ndarray) or value.ndim != 1:
        return
    orders = [
        name
        for name, held in values.items()
        if name != node.id and isinstance(held, np.ndarray) and held.shape == value.shape and held.dtype.kind in "iu"
    ]
    yield from (ast.Subscript(node, ast.Name(name, ast.Load()), ast.Load()) for name in orders[:MOST_ORDERS])


def unequal(node: ast.AST) -> Iterator[ast.AST]:
    """Yield "is another" in the place of "is larger" or "is smaller": of both sides, one was forgotten."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.Gt, ast.Lt)):
        yield replaced(node, ops=[ast.NotEq()])


def diagonal(node: ast.AST, values: Mapping[str, Any]) -> Iterator[ast.AST]:
    """Yield another entry of a diagonal: A[k, k] for A[i, i]."""
    key = node.slice if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) else None
    if not isinstance(key, ast.Tuple) or len(key.elts) != 2 or not all(isinstance(each, ast.Name) for each in key.elts):
        return
    one, other = (each.id for each in key.elts if isinstance(each, ast.Name))
    indices = [name for name, held in values.items() if type(held) is int and name != one]
    for name in indices[:MOST_NAMES] if one == other else ():
        yield replaced(node, slice=ast.Tuple([ast.Name(name, ast.Load()), ast.Name(name, ast.Load())], ast.Load()))


def rounds(node: ast.AST, definition: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield what another loop counts in the place of what one counts, as j for i: at the end both may be the same."""
    targets = [each.target for each in walk(definition) if isinstance(each, ast.For)]
    loops = [each.id for each in targets if isinstance(each, ast.Name)]
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in loops:
        others = dict.fromkeys(name for name in loops if name not in (node.id, "_"))
        yield from (ast.Name(name, ast.Load()) for name in list(others)[:MOST_NAMES])


def lengths(node: ast.AST, holder: ast.AST, value_of: Callable[[ast.AST], Any]) -> Iterator[ast.AST]:
    """Yield the length of a vector where it is divided by its largest entry or sum, or by nothing at all."""
    divides = isinstance(holder, ast.BinOp) and isinstance(holder.op, ast.Div) and holder.right is node
    if isinstance(node, ast.Call) and divides and called(node) in ENTRIES:
        yield from (_norm(each) for each in _vector(node, value_of))
    elif isinstance(node, ast.Name) and isinstance(holder, ast.Assign) and _is_vector(value_of(node)):
        yield ast.BinOp(node, ast.Div(), _norm(node))
    elif isinstance(node, ast.Call) and called(node) == "sum" and node.args[:1] and called(node.args[0]) == "abs":
        inner = getattr(node.args[0], "args", [])  # sizes that are added up
        if len(inner) == 1 and not isinstance(inner[0], ast.Starred):
            squares = replaced(node, args=[ast.BinOp(inner[0], ast.Pow(), ast.Constant(2)), *node.args[1:]])
            yield ast.Call(ast.Attribute(ast.Name("np", ast.Load()), "sqrt", ast.Load()), [squares], [])


def identity(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a diagonal in the place of a square that is full of one number: np.eye(n) for np.ones((n, n))."""
    if not isinstance(node, ast.Call) or called(node) not in ("ones", "full") or not node.args:
        return
    shape = node.args[0]
    if not isinstance(shape, ast.Tuple) or len(shape.elts) != 2 or ast.dump(shape.elts[0]) != ast.dump(shape.elts[1]):
        return
    eye = ast.Call(ast.Attribute(ast.Name("np", ast.Load()), "eye", ast.Load()), [shape.elts[0]], [])
    yield eye if called(node) == "ones" else ast.BinOp(node.args[-1], ast.Mult(), eye)


def stepped(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a slice with a step that ends so many steps behind its start: p : p + s * n : s for p : p + n : s."""
    if not isinstance(node, ast.Slice) or not isinstance(node.step, ast.Name) or not isinstance(node.upper, ast.BinOp):
        return
    names = {each.id for each in walk(node.upper) if isinstance(each, ast.Name)}
    if isinstance(node.upper.op, ast.Add) and node.step.id not in names:
        far = ast.BinOp(node.step, ast.Mult(), node.upper.right)
        yield replaced(node, upper=replaced(node.upper, right=far))


def uncorrected(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a value without the fraction that corrects it: v for v * n / (n - 1)."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div) or not isinstance(node.left, ast.BinOp):
        return
    less, count = node.right, node.left.right
    is_less = isinstance(less, ast.BinOp) and isinstance(less.op, ast.Sub) and ast.dump(less.left) == ast.dump(count)
    if isinstance(node.left.op, ast.Mult) and is_less:
        yield node.left.left


def begun(node: ast.AST, holder: ast.AST, value_of: Callable[[ast.AST], Any]) -> Iterator[ast.AST]:
    """Yield zeros in the place of a part of an array with which a name begins."""
    is_value = isinstance(holder, ast.Assign) and holder.value is node and isinstance(holder.targets[0], ast.Name)
    if not is_value or not isinstance(node, ast.Subscript):
        return
    value = value_of(node)
    if isinstance(value, np.ndarray) and value.ndim:
        yield ast.Call(ast.Attribute(ast.Name("np", ast.Load()), "zeros_like", ast.Load()), [node], [])


def parts(definition: ast.FunctionDef, value_of: Callable[[ast.AST], Any]) -> list[tuple[ast.expr, Any]]:
    """Return the parts of arrays that a function's formulas name, as X[i], each once with what stands for its value."""
    found: dict[str, tuple[ast.expr, Any]] = {}
    for node in walk(definition):
        if isinstance(node, ast.Subscript) and is_part(node) and isinstance(value_of(node), (np.ndarray, float)):
            found.setdefault(ast.unparse(node), (node, value_of(node)))
    return list(found.values())[:MOST_PARTS]


def counts(definition: ast.FunctionDef, values: Mapping[str, Any]) -> list[tuple[ast.expr, Any]]:
    """Return how many entries, or rows, the arrays have that a function is given: len(x), which is easily forgotten."""
    given = (each.arg for each in (*definition.args.posonlyargs, *definition.args.args))
    arrays = [name for name in given if getattr(values.get(name), "ndim", 0)]
    call = [ast.Call(ast.Name("len", ast.Load()), [ast.Name(name, ast.Load())], []) for name in arrays[:MOST_COUNTS]]
    return [(each, values[name].shape[0]) for each, name in zip(call, arrays, strict=False)]


def is_part(node: ast.AST) -> bool:
    """Say whether an expression takes a part of something that has a name, by numbers."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
        return False
    is_entry = isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
    return isinstance(node.value, ast.Name) and not is_entry


def _vector(node: ast.Call, value_of: Callable[[ast.AST], Any]) -> list[ast.expr]:
    """Return the vector, if it is one, of which a call takes the largest entry or the sum, be it of absolute values."""
    is_method = isinstance(node.func, ast.Attribute) and _is_vector(value_of(node.func.value))
    inner = node.func.value if is_method and isinstance(node.func, ast.Attribute) else next(iter(node.args), None)
    while isinstance(inner, ast.Call) and called(inner) in ("abs", "fabs", "absolute") and len(inner.args) == 1:
        inner = inner.args[0]
    return [inner] if inner is not None and _is_vector(value_of(inner)) else []


def _is_vector(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind == "f"


def _norm(node: ast.expr) -> ast.expr:
    library = ast.Attribute(ast.Name("np", ast.Load()), "linalg", ast.Load())
    return ast.Call(ast.Attribute(library, "norm", ast.Load()), [node], [])


def other_slope(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the slope of tanh at a value for that of a sigmoid, and the other way round: 1 - g**2 for g (1 - g)."""
    match node:
        case ast.BinOp(
            left=left, op=ast.Mult(), right=ast.BinOp(left=ast.Constant(value=1 | 1.0), op=ast.Sub()) as rest
        ):
            value = rest.right
            one_less_square = ast.BinOp(rest.left, ast.Sub(), ast.BinOp(value, ast.Pow(), ast.Constant(2)))
            if isinstance(value, ast.Name | ast.Attribute) and is_same(left, value):
                yield one_less_square
            elif isinstance(left, ast.BinOp) and isinstance(left.op, ast.Mult) and is_same(left.right, value):
                yield ast.BinOp(left.left, ast.Mult(), one_less_square)
        case ast.BinOp(left=ast.Constant(value=1 | 1.0) as one, op=ast.Sub(), right=ast.BinOp() as square):
            if (squared := _squared(square)) is not None:
                yield ast.BinOp(squared, ast.Mult(), ast.BinOp(one, ast.Sub(), squared))


def _squared(node: ast.BinOp) -> ast.expr | None:
    """Return what is squared, if a name or an attribute is."""
    is_power = isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant) and node.right.value == 2
    is_product = isinstance(node.op, ast.Mult) and is_same(node.left, node.right)
    return node.left if (is_power or is_product) and isinstance(node.left, ast.Name | ast.Attribute) else None


def other_count(
    node: ast.AST, holder: ast.AST, values: Mapping[str, Any], value_of: Callable[[ast.AST], Any]
) -> Iterator[ast.AST]:
    """Yield names of whole numbers in the place of a size that something is divided by: count for real.size."""
    is_size = isinstance(node, ast.Attribute) and node.attr == "size"
    is_size |= isinstance(node, ast.Call) and called(node) == "len"
    is_size |= isinstance(node, ast.Subscript) and getattr(node.value, "attr", "") == "shape"
    divides = isinstance(holder, (ast.BinOp, ast.AugAssign)) and isinstance(holder.op, ast.Div)
    if not is_size or not divides or node is getattr(holder, "left", None):
        return
    own = value_of(node)
    if own is not None and type(own) is not int:
        return  # an attribute of that name may hold anything
    names = [name for name, held in values.items() if type(held) is int and held not in (0, own)]
    yield from (ast.Name(name, ast.Load()) for name in names[-MOST_NAMES:])
