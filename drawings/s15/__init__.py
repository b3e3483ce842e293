"""What `grader explore` shows of stage 15: `steps.py` finds it, `pictures.py` draws it. Begin with `steps.py`."""

from drawings.s15 import pictures, steps
from grader.explore.model import Plan

__all__ = ["PLAN"]

PLAN = Plan(steps.STEPS, steps.start, random=True, of_sentence=True, maps=steps.maps, drawings=pictures.drawings)
