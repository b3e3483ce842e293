"""What `grader explore` shows of stage 23: `steps.py` finds it, `pictures.py` draws it. Begin with `steps.py`."""

from drawings.s23 import pictures, steps
from grader.explore.model import Plan

__all__ = ["PLAN"]

PLAN = Plan(steps.STEPS, steps.start, random=True, given=steps.GIVEN, data=True, drawings=pictures.drawings)
