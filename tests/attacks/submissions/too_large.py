"""Hand in a module of many megabytes, which takes memory and time from whoever reads it."""

import numpy as np

ATTACK = "a module of many megabytes"
OUTCOME = "refused"
TIERS = ("bubblewrap", "landlock", "process")
TEXT = "@LARGE@"


def double(x):
    return np.zeros_like(x)
