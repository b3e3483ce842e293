"""What may be missing around an expression: a bias, a sum, a maximum subtracted, a root, a sign."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from grader.course.changes import replaced
from grader.diagnosis.slips.formulas import number_node, transposed
from grader.diagnosis.trees import walk

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
