"""Return 64 MB where a few numbers are expected."""

import numpy as np

ATTACK = "a result of 64 MB"
OUTCOME = "over_limit"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "at most 4 MB"


def double(x):
    return np.zeros((8, 1 << 20))
