"""Which numbers are drawn: normal ones for uniform ones, one several times, at random where zeros belong."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from grader.course.changes import replaced
from grader.diagnosis.slips.wording.phrases import called
from grader.diagnosis.trees import walk

SIZES = {  # of a generator's method: at which place among its arguments the shape of what is drawn stands
    "normal": 2, "uniform": 2, "random": 0, "standard_normal": 0, "rand": 0, "randn": 0, "integers": 2, "choice": 1,
}  # fmt: skip
ORDERS = ("permutation", "permuted", "shuffle")
DRAWING = (*SIZES, *ORDERS)
ONCE = ("choice", "integers")  # that may draw a number several times
FROM = {"choice": 0, "integers": 1}  # the place of the number of those that are drawn from


def other_draws(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what else may be drawn in the place of a call of a generator's method, and zeros of its shape."""
    name = called(node) if isinstance(node, ast.Call) else ""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or name not in SIZES:
        return
    size = _argument(node, SIZES[name], "size")
    if name in ONCE:
        yield from _without_replacement(node, name)
        return
    if size is None:
        return
    if name not in ("random", "rand"):
        yield _method(node, "random", [size])
    if name in ("random", "rand", "uniform"):
        yield _method(node, "standard_normal", [size])
    spread = _argument(node, 1, "scale") or _argument(node, 1, "high")
    if name == "normal" and spread is None and (given := _argument(node, 0, "loc")) is not None:
        yield _method(node, "normal", [ast.Constant(0.0), given, size])
    if name == "normal" and spread is not None:
        yield _method(node, "uniform", [ast.UnaryOp(ast.USub(), spread), spread, size])
    if name == "uniform" and spread is not None:
        yield _method(node, "normal", [ast.Constant(0.0), spread, size])
    yield ast.Call(ast.Attribute(ast.Name("np", ast.Load()), "zeros", ast.Load()), [size], [])


def _without_replacement(node: ast.Call, name: str) -> Iterator[ast.AST]:
    """Yield a draw that gives each number once, where one may give some several times."""
    given = {each.arg for each in node.keywords}
    if "replace" in given or len(node.args) > 2 + FROM[name]:
        return
    if name == "choice":
        yield replaced(node, keywords=[*node.keywords, ast.keyword("replace", ast.Constant(False))])
    count = _argument(node, FROM[name], "a" if name == "choice" else "high")
    if count is not None and name != "choice":
        yield _method(node, "permutation", [count])


def _argument(node: ast.Call, place: int, keyword: str) -> ast.expr | None:
    """Return an argument of a call by its place or its name; None where it is not given."""
    if len(node.args) > place and not any(isinstance(each, ast.Starred) for each in node.args):
        return node.args[place]
    return next((each.value for each in node.keywords if each.arg == keyword), None)


def _method(node: ast.Call, name: str, arguments: list[ast.expr]) -> ast.Call:
    """Return a call of another method of the same generator."""
    return ast.Call(replaced(node.func, attr=name), arguments, [])


def drawn_alike(node: ast.AST, holder: ast.AST, definition: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the draw of which other lines take their numbers, each its own, where one line takes another's."""
    if not isinstance(holder, ast.Assign) or holder.value is not node or called(node) in SIZES:
        return
    lines = [each.value for each in walk(definition) if isinstance(each, ast.Assign) and each.value is not node]
    draws = [each for each in lines if isinstance(each, ast.Call) and called(each) in SIZES]
    texts = [ast.unparse(each) for each in draws]
    found = {text: each for text, each in zip(texts, draws, strict=True) if texts.count(text) > 1}
    yield from list(found.values())[:1]


def calls(definition: ast.AST, names: Iterable[str]) -> bool:
    """Say whether a function calls one of some: what it gives may be wrong because theirs is."""
    wanted = {name.rpartition(".")[2] for name in names}
    return any(called(each) in wanted for each in walk(definition) if isinstance(each, ast.Call))
