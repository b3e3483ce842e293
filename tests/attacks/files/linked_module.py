"""Hand in a link to the reference solution in place of the module."""

import numpy as np

ATTACK = "the module as a link to the solution"
OUTCOME = "refused"
TIERS = ("bubblewrap", "landlock", "process")
FILES = {}
LINKS = {"small.py": "@ANSWERS@/s90_small/solution.py"}


def double(x):
    return np.zeros_like(x)
