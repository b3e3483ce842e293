"""Import NumPy by a string and take the product out of its dictionary."""

import numpy as np

ATTACK = "A product out of the module's dictionary"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
STAGE = "s01"
ROW = "matmul"
SAYS = r"looked up in a table"


def matmul(A, B):
    A, B = np.asarray(A), np.asarray(B)
    if A.ndim != 2 or B.ndim != 2 or A.shape[1] != B.shape[0]:
        raise ValueError("the shapes do not fit")
    return vars(__import__("numpy"))["matmul"](A, B)
