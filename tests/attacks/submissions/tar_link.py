"""Hand in a tar archive in which the module is a link to the reference."""

import numpy as np

ATTACK = "a tar archive with a link for the module"
OUTCOME = "refused"
TIERS = ("bubblewrap", "landlock", "process")
PACKED = "tar"
LINKS = {"small.py": "@ANSWERS@/s90_small/solution.py"}


def double(x):
    return np.zeros_like(x)
