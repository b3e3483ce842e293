"""Write the operator @ where the check sees a string."""

import numpy as np

ATTACK = "A product in a string that is run"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
STAGE = "s01"
ROW = "matmul"
SAYS = r"code that stands in a string"


def matmul(A, B):
    A, B = np.asarray(A), np.asarray(B)
    if A.ndim != 2 or B.ndim != 2 or A.shape[1] != B.shape[0]:
        raise ValueError("the shapes do not fit")
    return eval("A @ B")
