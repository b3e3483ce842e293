"""Return a type so coarse that a tolerance by dtype forgives all."""

import numpy as np

ATTACK = "float16 zeros"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    return np.zeros(x.shape, np.float16)
