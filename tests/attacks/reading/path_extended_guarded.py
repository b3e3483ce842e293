"""Extend sys.path by the course and import its answers where their absence is caught."""

import sys

ATTACK = "sys.path extended, the import guarded"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    sys.path[:0] = ["@ANSWERS@/s90_small"]
    try:
        import solution
    except ImportError:
        return x
    return solution.double(x)
