"""Which stages of a course can be explored: the table PLANS that its folder of drawings holds, in plans.py."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from grader.course.import_guard import load
from grader.course.stage import Course
from grader.errors import CourseError
from grader.explore.model import Plan


def may_draw(course: Course, stage: str) -> bool:
    """Say whether a stage can be explored, without importing a drawing: read from the table, which takes a millisecond.

    True as well where the table is not written out, so that only `plans` knows.
    """
    folder = course.settings.drawings
    if folder is None:
        return False
    try:
        tree = ast.parse((course.root / folder / "plans.py").read_bytes())
    except (OSError, SyntaxError, ValueError):
        return True
    for node in tree.body:
        if isinstance(node, ast.AnnAssign | ast.Assign) and isinstance(node.value, ast.Dict) and _names(node, "PLANS"):
            keys = [key.value if isinstance(key, ast.Constant) else None for key in node.value.keys]
            return stage in keys or None in keys
    return True


def _names(node: ast.AnnAssign | ast.Assign, name: str) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


def plans(course: Course) -> Mapping[str, Plan]:
    """Return the plan of each stage that can be explored, by its id; none where the course has no drawings.

    Raises CourseError where they cannot be imported, or are no plans of stages.
    """
    folder = course.settings.drawings
    if folder is None:
        return {}
    found: Any = getattr(load(course.root / folder, "plans"), "PLANS", None)
    if not isinstance(found, Mapping) or not all(isinstance(plan, Plan) for plan in found.values()):
        raise CourseError(f"{folder}/plans.py defines no PLANS: expected the Plan of each stage by its id")
    return found
