"""Return an ndarray subclass whose comparisons and differences are all in favour."""

import numpy as np

ATTACK = "an ndarray subclass that compares equal"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


class Equal(np.ndarray):
    def __eq__(self, other):
        return np.ones(self.shape, bool)

    def __sub__(self, other):
        return np.zeros(self.shape)

    __rsub__ = __sub__

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return np.zeros(self.shape) if ufunc is np.subtract else np.ones(self.shape, bool)


def double(x):
    return np.zeros(x.shape).view(Equal)
