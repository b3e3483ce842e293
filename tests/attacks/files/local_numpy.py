"""Hand in a numpy.py of one's own, whose arrays are equal to everything."""

import numpy as np

ATTACK = "a local numpy.py"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
FILES = {"numpy.py": "@PLANTED@\nzeros_like = lambda x: 2 * x\n", "numpy/__init__.py": "@PLANTED@"}


def double(x):
    return np.zeros_like(x)
