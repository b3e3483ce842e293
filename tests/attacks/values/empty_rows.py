"""Return an array without a value and with 2^25 rows, each of which whoever lists them holds as a list."""

import numpy as np

ATTACK = "rows of nothing"
OUTCOME = "over_limit"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = r"an array of shape \(33554432, 0\); this stage takes at most 65536 along an axis"


def double(x):
    return np.empty((1 << 25, 0))
