"""Return an array of objects that are each equal to everything."""

import numpy as np

ATTACK = "an object array of agreeing elements"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


class Same:
    def __eq__(self, other):
        return True

    def __sub__(self, other):
        return 0.0

    __rsub__ = __sub__


def double(x):
    result = np.empty(x.shape, object)
    result[...] = Same()
    return result
