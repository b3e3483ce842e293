"""Hand in a module nested so deep that Python's parser exhausts its stack or memory."""

import numpy as np

ATTACK = "a module nested very deep"
OUTCOME = "not loaded"
TIERS = ("bubblewrap", "landlock", "process")
TEXT = "@DEEP@"


def double(x):
    return np.zeros_like(x)
