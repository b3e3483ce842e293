"""Return infinities: differences of them are NaN, and relative errors too."""

import numpy as np

ATTACK = "infinity everywhere"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    return np.full(x.shape, np.inf)
