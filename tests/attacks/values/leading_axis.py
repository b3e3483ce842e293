"""Return 4 MB along one leading axis, which takes gigabytes once it is subtracted from a table."""

import numpy as np

ATTACK = "a leading axis that grows by broadcasting"
OUTCOME = "over_limit"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "along an axis"


def double(x):
    return np.zeros((1 << 19, 1, 1))
