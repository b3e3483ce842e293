"""Return a masked array with every value masked: comparisons of masked values count as true."""

import numpy as np

ATTACK = "a masked array, all masked"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    return np.ma.masked_all(x.shape)
