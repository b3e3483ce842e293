"""Return NaN everywhere: `not (difference > tolerance)` is true of it."""

import numpy as np

ATTACK = "NaN everywhere"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    return np.full(x.shape, np.nan)
