"""What `grader explore` shows of stage 1: `steps.py` finds it, `pictures.py` draws it. Begin with `steps.py`."""

from drawings.s01 import pictures, steps
from grader.explore.model import Plan

__all__ = ["PLAN"]

PLAN = Plan(steps.STEPS, steps.start, random=False, given=steps.GIVEN, drawings=pictures.drawings)
