"""Which stages of a course can be explored: the table PLANS that its folder of drawings holds, in plans.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader.course.packages import load
from grader.course.stage import Course
from grader.errors import CourseError
from grader.explore.model import Plan


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
