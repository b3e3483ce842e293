"""Return an ndarray subclass whose tobytes, copy and view give the right answer's bytes only to a comparison."""

import numpy as np

ATTACK = "an ndarray subclass with methods of its own"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


class Shifty(np.ndarray):
    def tobytes(self, *args):
        return np.ones(self.shape).tobytes()

    def copy(self, *args, **kwargs):
        return self

    def __array_finalize__(self, other):
        self.other = other


def double(x):
    return np.zeros(x.shape).view(Shifty)
