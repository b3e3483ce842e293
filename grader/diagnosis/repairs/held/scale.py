"""By which factor an answer is wrong, and which changes alter a value by it: these are tried before the others."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from grader.diagnosis.slips.schema import Change

NEAR = 1e-9  # relative: so far two factors are one
COUNTED = ("sum", "mean")  # that differ by a number of entries


def factor(got: Any, right: Any) -> float | None:
    """Return what every number of an answer has to be multiplied by to be right; None where it is not one factor."""
    try:
        one, other = (np.asarray(each, dtype=float) for each in (got, right))
    except (TypeError, ValueError):
        return None
    if one.shape != other.shape or not (np.isfinite(one).all() and np.isfinite(other).all()):
        return None
    with np.errstate(all="ignore"):
        shares = other[one != 0] / one[one != 0]
    if not shares.size or other[one == 0].any() or not shares[0] or shares[0] == 1:
        return None
    return float(shares[0]) if np.allclose(shares, shares[0], rtol=NEAR, atol=0) else None


def scales(change: Change, wanted: float | None, value_of: Callable[[ast.AST], Any]) -> bool:
    """Say whether a change alters a value by a factor that is wanted, or by its inverse, root or square."""
    old, new = change.old, change.new
    if wanted is None or not isinstance(new, ast.AST):
        return False
    for whole, part in ((old, new), (new, old)):
        if isinstance(whole, ast.UnaryOp) and isinstance(whole.op, ast.USub) and whole.operand is part:
            return wanted < 0
        if isinstance(whole, ast.BinOp) and isinstance(whole.op, (ast.Mult, ast.Div)) and whole.left is part:
            return _fits(_number(whole.right, value_of), wanted)
    if isinstance(old, ast.Attribute) and isinstance(new, ast.Attribute):
        return {old.attr, new.attr} == set(COUNTED)
    numbers = _number(old, value_of), _number(new, value_of)
    if not isinstance(old, ast.Constant) or not numbers[0] or not numbers[1]:
        return False
    return _fits(numbers[1] / numbers[0], wanted)


def _number(node: ast.AST, value_of: Callable[[ast.AST], Any]) -> float | None:
    value = node.value if isinstance(node, ast.Constant) else value_of(node)
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _fits(number: float | None, wanted: float) -> bool:
    if not number or not np.isfinite(number):
        return False
    size, share = abs(number), abs(wanted)
    return any(abs(each / size - 1) < NEAR for each in (share, 1 / share, share**2, share**-2, share**0.5, share**-0.5))
