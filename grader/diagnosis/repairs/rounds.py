"""The rounds of while loops are counted while changes are tried: many a change makes such a loop run for ever.

A process that hangs has to be ended and started anew, and a diagnosis has few of them.
"""

from __future__ import annotations

import ast
from typing import Any

from grader.course.changes import replaced
from grader.diagnosis.repairs.relevance import PARTS

STEP = "_slips_step"  # the name, in a changed module, of what each round calls first
MOST_ROUNDS = 10_000  # of all while loops, while one change is tried


def counted(node: Any) -> Any:
    """Return a statement whose while loops count their rounds; what does not change is shared."""
    fields: dict[str, Any] = {}
    for part in PARTS:
        body = getattr(node, part, None)
        if isinstance(body, list):
            made = [counted(each) for each in body]
            if any(a is not b for a, b in zip(made, body, strict=True)):
                fields[part] = made
    if isinstance(node, ast.While):
        step = ast.copy_location(ast.Expr(ast.Call(ast.Name(STEP, ast.Load()), [], [])), node)
        fields["body"] = [ast.fix_missing_locations(step), *fields.get("body", node.body)]
    return replaced(node, **fields) if fields else node
