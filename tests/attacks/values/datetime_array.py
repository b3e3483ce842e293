"""Return dates: NaT compares unlike everything else."""

import numpy as np

ATTACK = "an array of NaT"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    return np.full(x.shape, np.datetime64("NaT"))
