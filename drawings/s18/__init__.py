"""What `grader explore` shows of stage 18: `steps.py` finds it, `pictures.py` draws it. Begin with `steps.py`."""

from drawings.s18 import pictures, steps
from grader.explore.model import Plan

__all__ = ["PLAN"]

PLAN = Plan(
    steps.STEPS, steps.start, random=True, given=steps.GIVEN, prompt=steps.PROMPT, data=True, drawings=pictures.drawings
)
