"""Set NumPy's global generator and replace default_rng, so that random inputs become known ones."""

import random

import numpy as np

ATTACK = "random generators replaced"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


random.seed(0)
np.random.seed(0)
np.random.default_rng = lambda *args: np.random.RandomState(0)


def double(x):
    return 2 * np.random.default_rng().standard_normal(x.shape)
