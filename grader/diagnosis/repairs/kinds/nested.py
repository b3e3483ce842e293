"""What is done to values one after the other: f(a) * f(b) for f(a * b), f(g(x)) for g(f(x)), sizes in another order."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import combinations

from grader.course.changes import replaced
from grader.diagnosis.repairs.kinds.unused import is_scalar
from grader.diagnosis.slips.wording.phrases import called, constant_of, is_library

JOINED = (ast.Add, ast.Sub, ast.Mult, ast.Div)
NO_STEP = ("len", "float", "int", "bool", "str", "list", "tuple", "dict", "range", "array", "asarray", "copy", "astype")
MOST_LISTED = 3  # numbers that stand beside one another
MOST_LISTS = 40


def nested(node: ast.AST, holder: ast.AST, constants: frozenset[float]) -> Iterator[ast.expr]:
    """Yield an expression with its steps in another order, or taken of what is joined and not of each part of it.

    constants are the right module's, which may belong in a list.
    """
    yield from _listed(node, constants)
    if isinstance(node, ast.BinOp) and isinstance(node.op, JOINED):
        yield from _joined(node)
        is_plain = any(isinstance(each, ast.Constant) for each in (node.left, node.right))
        if isinstance(node.op, ast.Sub) and not is_plain:  # `n * 1` leaves a 1 out, and says something else
            yield from (replaced(node, op=operator()) for operator in (ast.Mult, ast.Div))
    elif isinstance(node, ast.Call):
        yield from _turned(node)
        yield from _behind(node)
    elif isinstance(node, ast.Name) and _is_case(node, holder):
        yield ast.Constant(1.0)


def _listed(node: ast.AST, constants: frozenset[float]) -> Iterator[ast.expr]:
    """Yield the numbers of the right module, in ascending order, in the place of some that stand in a list."""
    if not isinstance(node, (ast.List, ast.Tuple)) or not 1 < len(node.elts) <= MOST_LISTED:
        return
    own = [constant_of(each) for each in node.elts]
    if not all(map(is_scalar, own)):
        return
    positive = sorted(each for each in constants if each > 0)
    others = [each for each in combinations(positive, len(own)) if not set(each) & set(own)]
    for numbers in others[:MOST_LISTS]:
        yield replaced(node, elts=[ast.Constant(each) for each in numbers])


def _taken(node: ast.expr) -> ast.expr | None:
    """Return what one step is done to: x of f(x), np.sum(x, axis=0) and x.sum(); None for what is no such step."""
    if not isinstance(node, ast.Call) or called(node) in NO_STEP:
        return None
    if isinstance(node.func, ast.Attribute) and not is_library(node.func.value):
        is_own = isinstance(node.func.value, ast.Name) and node.func.value.id == "self"
        return None if node.args or is_own else node.func.value
    is_one = len(node.args) == 1 and not isinstance(node.args[0], (ast.Starred, ast.GeneratorExp, ast.Constant))
    return node.args[0] if is_one else None


def _of(step: ast.expr, inner: ast.expr) -> ast.expr:
    """Return the same step, done to another value."""
    assert isinstance(step, ast.Call)
    if step.args:
        made: ast.expr = replaced(step, args=[inner])
    else:
        made = replaced(step, func=replaced(step.func, value=inner))
    return made


def _joined(node: ast.BinOp) -> Iterator[ast.expr]:
    """Yield f(a * b), and a * b alone, for f(a) * f(b)."""
    left, right = _taken(node.left), _taken(node.right)
    if left is None or right is None:
        return
    blank = ast.Name("_", ast.Load())
    if ast.dump(_of(node.left, blank)) == ast.dump(_of(node.right, blank)):
        inner = replaced(node, left=left, right=right)
        yield _of(node.left, inner)
        yield inner


def _turned(node: ast.Call) -> Iterator[ast.expr]:
    """Yield g(f(x)) for f(g(x)): the root of a mean is no mean of roots."""
    inner = _taken(node)
    innermost = _taken(inner) if inner is not None else None
    if inner is not None and innermost is not None and called(inner) != called(node):
        yield _of(inner, _of(node, innermost))


def _behind(node: ast.Call) -> Iterator[ast.expr]:
    """Yield a call of several values and one more with that one at the other end: (*shape, n) for (n, *shape)."""
    if len(node.args) == 2 and sum(isinstance(each, ast.Starred) for each in node.args) == 1:
        yield replaced(node, args=node.args[::-1])


def _is_case(node: ast.Name, holder: ast.AST) -> bool:
    """Say whether a name is what one of two cases gives, of which the other gives a number that is written out."""
    cases = [holder.body, holder.orelse] if isinstance(holder, ast.IfExp) else []
    if isinstance(holder, ast.Call) and called(holder) == "where" and len(holder.args) == 3:
        cases = holder.args[1:]
    others = [each for each in cases if each is not node]
    return len(others) == 1 and len(cases) == 2 and is_scalar(constant_of(others[0]))
