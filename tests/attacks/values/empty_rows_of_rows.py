"""Return an array without a value whose axes are of a moderate length each, and 2^30 rows together."""

import numpy as np

ATTACK = "rows of rows of nothing"
OUTCOME = "over_limit"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "rows of nothing"


def double(x):
    return np.empty((1 << 15, 1 << 15, 0))
