"""Bind eval to itself, so that the name looks like one of the module's own, and run the product as text."""

import numpy as np

ATTACK = "A product in a string, by a builtin that is bound to itself"
OUTCOME = "not loaded"
TIERS = ("bubblewrap", "landlock", "process")
STAGE = "s01"
ROW = "matmul"
SAYS = r"code that stands in a string"

eval = eval


def matmul(A, B):
    A, B = np.asarray(A), np.asarray(B)
    if A.ndim != 2 or B.ndim != 2 or A.shape[1] != B.shape[0]:
        raise ValueError("the shapes do not fit")
    return eval("A @ B")
