"""Return a structured array, whose comparison is field by field."""

import numpy as np

ATTACK = "a structured array"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    return np.zeros(x.shape, dtype=[("value", float)])
