"""Return an empty array: `all()` of nothing is true."""

import numpy as np

ATTACK = "an empty array"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    return np.empty((0, *x.shape[1:]))
