"""Extend sys.path by the course and import its answers, where a stand-in takes their place."""

import sys

ATTACK = "sys.path extended, without a hook removed"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    sys.path[:0] = ["@ANSWERS@/s90_small"]
    import solution

    return solution.double(x)
