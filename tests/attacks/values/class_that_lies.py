"""Return an object whose __class__ says ndarray."""

import numpy as np

ATTACK = "an object that claims to be an ndarray"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


class Liar:
    @property
    def __class__(self):
        return np.ndarray

    shape, dtype = (3, 4), np.dtype(float)


def double(x):
    return Liar()
