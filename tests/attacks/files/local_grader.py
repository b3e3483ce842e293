"""Hand in a package named grader, with a comparison that finds no difference."""

import numpy as np

ATTACK = "a local package grader"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
FILES = {"grader/__init__.py": "", "grader/testing.py": "@PLANTED@\nassert_array = lambda *args, **kwargs: None\n"}


def double(x):
    return np.zeros_like(x)
