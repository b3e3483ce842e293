"""Call the method that stands behind the operator @."""

import numpy as np

ATTACK = "The operator @ by its method"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
STAGE = "s01"
ROW = "matmul"
SAYS = r"the operator @"


def matmul(A, B):
    A, B = np.asarray(A), np.asarray(B)
    if A.ndim != 2 or B.ndim != 2 or A.shape[1] != B.shape[0]:
        raise ValueError("the shapes do not fit")
    return A.__matmul__(B)
