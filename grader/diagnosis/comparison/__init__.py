"""How two values differ, for people: what stage tests' assertions say when an answer is wrong."""

from grader.diagnosis.comparison.difference import Difference, Spot, compare, compare_shape, describe

__all__ = ["Difference", "Spot", "compare", "compare_shape", "describe"]
