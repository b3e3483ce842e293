"""Return more than the grader may take in; bounded here."""

import numpy as np

ATTACK = "a result of 60 MB"
OUTCOME = "over_limit"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    return np.zeros((60 << 20) // 8)
