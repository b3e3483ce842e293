"""Extend sys.path by the course and import from there, by a name that no text shows."""

import sys

ATTACK = "sys.path extended, the import hidden"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SUCCEEDS_IN = ("process",)
SAYS = "ModuleNotFoundError"


def double(x):
    sys.meta_path[:] = [each for each in sys.meta_path if type(each).__name__ != "OnlyAllowed"]
    sys.path[:0] = ["@ANSWERS@/s90_small"]
    return __import__("solution").double(x)
