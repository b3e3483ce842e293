"""Return a record array with fields named as an array's attributes."""

import numpy as np

ATTACK = "a record array"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    return np.zeros(x.shape, dtype=[("shape", float), ("dtype", float)]).view(np.recarray)
