"""Keep the operator @ in a helper that is put into a list while the module is loaded."""

import numpy as np

ATTACK = "A product in a helper that no function names"
OUTCOME = "not loaded"
TIERS = ("bubblewrap", "landlock", "process")
STAGE = "s01"
ROW = "matmul"
registered = []


def keep(helper):
    registered.append(helper)
    return helper


@keep
def product(A, B):
    return A @ B


def matmul(A, B):
    A, B = np.asarray(A), np.asarray(B)
    if A.ndim != 2 or B.ndim != 2 or A.shape[1] != B.shape[0]:
        raise ValueError("the shapes do not fit")
    return registered[0](A, B)
