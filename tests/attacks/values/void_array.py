"""Return an array of raw bytes as long as the expected values."""

import numpy as np

ATTACK = "an array of void"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    return np.zeros(x.shape, "V8")
