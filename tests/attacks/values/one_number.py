"""Return a single number that broadcasts against any expectation."""

import numpy as np

ATTACK = "a number that would broadcast"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    return np.float64(2 * x.flat[0])
