"""What `grader explore` shows of stage 17, found by `steps.py`; its pictures are the weights."""

from drawings.s17 import steps
from grader.explore.model import Plan

__all__ = ["PLAN"]

PLAN = Plan(steps.STEPS, steps.start, random=True, of_sentence=True, maps=steps.maps)
