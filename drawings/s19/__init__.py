"""What `grader explore` shows of stage 19: `steps.py` finds it, `pictures.py` draws it. Begin with `steps.py`."""

from drawings.s19 import pictures, steps
from grader.explore.model import Plan

__all__ = ["PLAN"]

PLAN = Plan(steps.STEPS, steps.start, random=True, of_sentence=True, drawings=pictures.drawings)
