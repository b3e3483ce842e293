"""What is said of steps in another order: a product of sums for a sum of products, f of a mean, other numbers."""

from __future__ import annotations

import ast

from grader.diagnosis.slips.wording.phrases import called, constant_of


def is_nested(old: ast.AST, right: ast.AST) -> bool:
    """Say whether only the two texts tell a change: steps in another order, or taken of each part and not of both."""
    if isinstance(old, (ast.List, ast.Tuple)) and isinstance(right, (ast.List, ast.Tuple)):
        known = {repr(constant_of(each)) for each in old.elts}
        return all(constant_of(each) is not None and repr(constant_of(each)) not in known for each in right.elts)
    if isinstance(old, ast.BinOp):
        name = called(old.left)
        is_of_both = called(right) == name or (isinstance(right, ast.BinOp) and type(right.op) is type(old.op))
        return bool(name) and name == called(old.right) and is_of_both and not _keeps_one(old, right)
    if not isinstance(old, ast.Call) or not isinstance(right, ast.Call):
        return False
    if any(isinstance(each, ast.Starred) for each in old.args):
        return len(old.args) == 2 and right.args == old.args[::-1]
    steps = [_steps(each)[:2] for each in (old, right)]
    return len(steps[0]) == 2 and steps[0] == steps[1][::-1] and steps[0] != steps[1]


def _keeps_one(old: ast.BinOp, right: ast.AST) -> bool:
    """Say whether a side of an operation stays as it is: then something else changed."""
    return any(each is old.left or each is old.right for each in ast.walk(right))


def _steps(node: ast.AST) -> list[str]:
    """Return what is done to a value, the last step first: mean and f for np.mean(f(x))."""
    found: list[str] = []
    while isinstance(node, ast.Call):
        found.append(called(node))
        owner = getattr(node.func, "value", None)
        is_method = isinstance(owner, ast.AST) and not node.args
        node = owner if is_method and isinstance(owner, ast.AST) else next(iter(node.args), ast.Pass())
    return found
