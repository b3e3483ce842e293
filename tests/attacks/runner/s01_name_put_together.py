"""Reach numpy.matmul by a name that the text does not show."""

import numpy as np

ATTACK = "A product by a name put together at run time"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
STAGE = "s01"
ROW = "matmul"
SAYS = r"cannot see an attribute whose name is made while the program runs"


def matmul(A, B):
    A, B = np.asarray(A), np.asarray(B)
    if A.ndim != 2 or B.ndim != 2 or A.shape[1] != B.shape[0]:
        raise ValueError("the shapes do not fit")
    return getattr(np, "mat" + "mul")(A, B)
