"""Compare two values for people: the messages of stage tests' assertions when an answer is wrong."""

from grader.diagnosis.comparison.difference import Difference, Spot, compare, compare_shape, describe
from grader.diagnosis.comparison.wording import name_axes

__all__ = ["Difference", "Spot", "compare", "compare_shape", "describe", "name_axes"]
