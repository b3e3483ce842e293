"""What a mask may have to do once more: it leaves entries of one array out, and those of another stay."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from grader.diagnosis.repairs.kinds.analogy import BODIES
from grader.diagnosis.slips.statements import Kind

MOST_MASKS = 3


def masked(
    holder: ast.AST, wanted: Callable[[ast.stmt], bool], values: Mapping[str, Any]
) -> Iterator[tuple[Kind, str, int, list[ast.stmt]]]:
    """Yield a body in which a wanted line that sets an array is followed by one that sets it to 0 outside of a mask."""
    masks = [name for name, held in values.items() if isinstance(held, np.ndarray) and held.dtype == bool and held.ndim]
    for name in BODIES:
        held_body = getattr(holder, name, None)
        body: list[ast.stmt] = held_body if masks and isinstance(held_body, list) else []
        for place, statement in enumerate(body):
            target = _array_set(statement) if wanted(statement) else None
            held = values.get(target or "")
            if target is None or not isinstance(held, np.ndarray) or held.dtype.kind != "f":
                continue
            for mask in [each for each in masks if held.shape[: values[each].ndim] == values[each].shape][:MOST_MASKS]:
                key = ast.UnaryOp(ast.Invert(), ast.Name(mask, ast.Load()))
                part = ast.Subscript(ast.Name(target, ast.Load()), key, ast.Store())
                line = ast.Assign([part], ast.Constant(0))
                yield "masked", name, place, [*body[: place + 1], line, *body[place + 1 :]]


def _array_set(node: ast.AST) -> str | None:
    """Return the name of which a line sets all, or some entries."""
    if not isinstance(node, (ast.Assign, ast.AugAssign)):
        return None
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    target = target.value if isinstance(target, ast.Subscript) else target
    return target.id if isinstance(target, ast.Name) else None
