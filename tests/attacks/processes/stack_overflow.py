"""Raise the recursion limit and exhaust the stack."""

import sys

ATTACK = "a stack overflow"
OUTCOME = ("crashed", "failed", "over_limit", "timed_out")
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    sys.setrecursionlimit(10**9)
    return [double(x)]
