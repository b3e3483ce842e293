"""What may be missing around an expression: a bias, a sum, a maximum subtracted, a root, a sign."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from grader.course.changes import replaced
from grader.diagnosis.slips.formulas import number_node, transposed
from grader.diagnosis.slips.wording.phrases import called
from grader.diagnosis.trees import is_same, walk

GRADIENTS = ("grad_", "delta_", "d_", "d")  # how the name of a gradient begins
MEANS = ("mean", "means", "average", "avg", "mu", "bar")  # words in the name of a mean


def biased(node: ast.AST, holder: ast.AST, value: Any, terms: Iterable[tuple[ast.expr, Any]]) -> Iterator[ast.AST]:
    """Yield a matrix product with each bias that fits: what is forgotten the most often is tried early."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.MatMult) or isinstance(holder, ast.BinOp):
        return
    features = getattr(value, "shape", (0,))[-1:]
    for term, held in terms:
        is_bias = _last_name(term).startswith("b") or "bias" in _last_name(term)
        if is_bias and features and getattr(held, "shape", None) == features:
            yield ast.BinOp(node, ast.Add(), term)


def times_other_branch(node: ast.AST, holder: ast.AST, value_of: Callable[[ast.AST], Any]) -> Iterator[ast.AST]:
    """Yield a number that one branch is, times what the other is: np.where(z > 0, z, alpha * z) for alpha alone."""
    if not isinstance(holder, ast.Call) or called(holder) != "where":
        return
    branches = holder.args[1:]
    value = value_of(node)
    if not isinstance(node, (ast.Name, ast.Attribute)) or not any(node is each for each in branches):
        return
    for other in branches if isinstance(value, (int, float)) and not isinstance(value, bool) else ():
        if other is not node and isinstance(value_of(other), (np.ndarray, float)):
            yield ast.BinOp(node, ast.Mult(), other)


def times_own_slope(node: ast.AST, holder: ast.AST, value: Any, values: Mapping[str, Any]) -> Iterator[ast.AST]:
    """Yield the gradient of a gate times its slope, where names tell whose it is: di = … times i (1 - i)."""
    if not isinstance(holder, ast.Assign) or holder.value is not node or not isinstance(holder.targets[0], ast.Name):
        return
    name = holder.targets[0].id
    for start in GRADIENTS:
        own = name.removeprefix(start)
        if own != name and isinstance(value, np.ndarray) and isinstance(values.get(own), np.ndarray):
            yield from slopes(node, value, [(ast.Name(own, ast.Load()), values[own])])
            return


def slopes(node: ast.AST, value: Any, terms: Iterable[tuple[ast.expr, Any]]) -> Iterator[ast.AST]:
    """Yield an expression times the slope of a sigmoid or of tanh at a value of its shape, as t * (1 - t)."""
    shape = getattr(value, "shape", ())
    for term, held in terms:
        if isinstance(node, ast.expr) and shape and getattr(held, "shape", None) == shape:
            one_less = ast.BinOp(ast.Constant(1), ast.Sub(), term)
            square = ast.BinOp(ast.Constant(1), ast.Sub(), ast.BinOp(term, ast.Pow(), ast.Constant(2)))
            yield ast.BinOp(node, ast.Mult(), ast.BinOp(term, ast.Mult(), one_less))
            yield ast.BinOp(node, ast.Mult(), square)
            yield ast.BinOp(node, ast.Mult(), one_less)


def weighted(node: ast.AST, holder: ast.AST, definition: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield what is summed, times what its difference to the sum is multiplied by: in A (dA - sum(dA)) dA times A.

    A mean in that place is made a sum.
    """
    if isinstance(node, ast.Call) and called(node) == "mean" and isinstance(node.func, ast.Attribute):
        summed = node.func.value
        for weight in _weights(summed, definition):
            function = replaced(node.func, value=ast.BinOp(summed, ast.Mult(), weight), attr="sum")
            yield replaced(node, func=function)
        return
    is_given = isinstance(holder, ast.Call) and called(holder) == "sum" and node in holder.args[:1]
    if not isinstance(node, ast.expr) or not (is_given or getattr(holder, "attr", "") == "sum"):
        return
    for weight in _weights(node, definition):
        yield ast.BinOp(node, ast.Mult(), weight)


def _weights(node: ast.expr, definition: ast.FunctionDef) -> list[ast.expr]:
    """Return what a difference of which an expression is the first part is multiplied by, the first time."""
    for each in walk(definition):
        if not isinstance(each, ast.BinOp) or not isinstance(each.op, ast.Mult):
            continue
        for difference, weight in ((each.left, each.right), (each.right, each.left)):
            match difference, weight:
                case ast.BinOp(left=first, op=ast.Sub()), ast.Name() | ast.Attribute() if is_same(first, node):
                    return [weight]
    return []


def negated(node: ast.AST, holder: ast.AST, value: Any) -> Iterator[ast.AST]:
    """Yield an argument with the other sign, as exp(-x) for exp(x)."""
    is_given = isinstance(holder, ast.Call) and any(node is each for each in holder.args)
    kind = getattr(getattr(value, "dtype", None), "kind", "f" if isinstance(value, float) else "")
    if is_given and kind == "f" and isinstance(node, (ast.Name, ast.BinOp)):
        yield ast.UnaryOp(ast.USub(), node)


def centred(node: ast.AST, holder: ast.AST, values: Mapping[str, Any]) -> Iterator[ast.AST]:
    """Yield an array less its mean, where a name says that it is at hand: y - y_mean for y."""
    if not isinstance(node, ast.Name) or not isinstance(holder, (ast.BinOp, ast.Call, ast.Attribute, ast.Assign)):
        return
    own = values.get(node.id)
    if getattr(getattr(own, "dtype", None), "kind", "") != "f" or not getattr(own, "ndim", 0):
        return
    for name, held in values.items():
        is_mean = any(name in (word, f"{node.id}_{word}", f"{word}_{node.id}") for word in MEANS)
        if is_mean and (isinstance(held, float) or getattr(held, "ndim", 9) < getattr(own, "ndim", 0)):
            yield ast.BinOp(node, ast.Sub(), ast.Name(name, ast.Load()))


def both_sided(node: ast.AST, value_of: Callable[[ast.AST], Any]) -> Iterator[ast.AST]:
    """Yield a number that is added to an array, or subtracted from it, with the sign of each entry: towards 0."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Add, ast.Sub)):
        return
    array, number = value_of(node.left), value_of(node.right)
    is_amount = isinstance(node.right, ast.Name) and isinstance(number, (int, float)) and not isinstance(number, bool)
    if is_amount and isinstance(node.left, ast.Name) and getattr(getattr(array, "dtype", None), "kind", "") == "f":
        sign = ast.Call(ast.Attribute(ast.Name("np", ast.Load()), "sign", ast.Load()), [node.left], [])
        yield replaced(node, right=ast.BinOp(sign, ast.Mult(), node.right))


def _last_name(term: ast.expr) -> str:
    key = term.slice if isinstance(term, ast.Subscript) else term
    found = getattr(key, "id", getattr(key, "attr", getattr(key, "value", "")))
    return found if isinstance(found, str) else ""


def wrapped(node: ast.expr, value: Any, inner: bool) -> Iterator[ast.AST]:
    """Yield what may be missing around an expression."""
    dimensions = getattr(value, "ndim", 0)
    if dimensions:
        for axis in (0, -1):
            yield _method(node, "sum", axis, keepdims=False)
        for name in ("sum", "mean"):
            yield _method(node, name, -1, keepdims=True)
        for name in ("mean", "max"):
            yield ast.BinOp(node, ast.Sub(), _method(node, name, -1, keepdims=True))
        yield ast.BinOp(node, ast.Div(), _method(node, "sum", -1, keepdims=True))
        yield ast.BinOp(node, ast.Div(), ast.Call(_library("linalg", "norm"), [node], []))
        yield ast.Call(ast.Attribute(node, "copy", ast.Load()), [], [])
    if dimensions > 1:
        yield transposed(node)
    for name in ("sqrt", "exp", "log", "square", "abs"):
        yield ast.Call(ast.Attribute(ast.Name("np", ast.Load()), name, ast.Load()), [node], [])
    yield ast.Call(ast.Attribute(ast.Name("np", ast.Load()), "maximum", ast.Load()), [node, ast.Constant(0.0)], [])
    yield ast.UnaryOp(ast.USub(), node)
    yield ast.BinOp(ast.Constant(1), ast.Sub(), node)
    if inner:
        return
    yield ast.BinOp(node, ast.Sub(), ast.Constant(1))
    yield ast.BinOp(node, ast.Add(), ast.Constant(1))
    yield ast.BinOp(node, ast.Div(), ast.Constant(2))
    yield ast.BinOp(node, ast.Mult(), ast.Constant(2))


def applied(
    node: ast.expr,
    definition: ast.FunctionDef,
    definitions: Mapping[str, ast.FunctionDef],
    own: Mapping[str, Any],
) -> Iterator[ast.AST]:
    """Yield an expression with a function of the module, or a layer among an object's own attributes, applied to it."""
    for name, other in definitions.items():
        required = len(other.args.args) - len(other.args.defaults)
        if "." not in name and required == 1 and other is not definition:
            yield ast.Call(ast.Name(name, ast.Load()), [node], [])
    calls = [each.func for each in walk(definition) if isinstance(each, ast.Call)]
    methods = {each.attr for each in calls if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Attribute)}
    for attribute, held in own.items():
        for method in sorted(methods & {"forward", "backward"}) if type(held).__name__ == "SimpleNamespace" else ():
            layer = ast.Attribute(ast.Name("self", ast.Load()), attribute, ast.Load())
            yield ast.Call(ast.Attribute(layer, method, ast.Load()), [node], [])


def _library(*names: str) -> ast.expr:
    """Return a function of NumPy: np.linalg.norm."""
    found: ast.expr = ast.Name("np", ast.Load())
    for name in names:
        found = ast.Attribute(found, name, ast.Load())
    return found


def _method(node: ast.expr, name: str, axis: int, keepdims: bool) -> ast.expr:
    keywords = [ast.keyword("axis", number_node(axis))]
    if keepdims:
        keywords.append(ast.keyword("keepdims", ast.Constant(True)))
    return ast.Call(ast.Attribute(node, name, ast.Load()), [], keywords)
