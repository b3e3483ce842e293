"""Extend sys.path by the course and import from there."""

import sys

ATTACK = "sys.path extended by the course"
OUTCOME = "not loaded"
TIERS = ("bubblewrap", "landlock")


def double(x):
    sys.meta_path[:] = [each for each in sys.meta_path if type(each).__name__ != "OnlyAllowed"]
    sys.path[:0] = ["@ANSWERS@/s90_small"]
    import solution

    return solution.double(x)
