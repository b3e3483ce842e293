"""How two values differ, for people: what stage tests' assertions say when an answer is wrong."""

from grader.diagnosis.comparison.difference import Difference, Spot, compare, compare_shape, describe
from grader.diagnosis.comparison.wording import name_axes

__all__ = ["Difference", "Spot", "compare", "compare_shape", "describe", "name_axes"]
