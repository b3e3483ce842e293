"""Return numpy.matrix, whose * is another product and whose rows stay two-dimensional."""

import warnings

import numpy as np

ATTACK = "numpy.matrix"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.matrix(np.zeros(x.shape))
