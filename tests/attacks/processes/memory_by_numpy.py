"""Ask NumPy for more memory than there is, of which nothing is touched."""

import numpy as np

ATTACK = "an enormous array"
OUTCOME = "over_limit"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    return np.empty((1 << 17, 1 << 17))
