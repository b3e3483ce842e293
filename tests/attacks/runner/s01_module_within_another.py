"""Reach the table of modules through a module that imports sys, and take NumPy's product out of it."""

import os

import numpy as np

ATTACK = "A product out of the table of modules, through another module"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
STAGE = "s01"
ROW = "matmul"
SAYS = r"looked up in a table"


def matmul(A, B):
    A, B = np.asarray(A), np.asarray(B)
    if A.ndim != 2 or B.ndim != 2 or A.shape[1] != B.shape[0]:
        raise ValueError("the shapes do not fit")
    return os.sys.modules["numpy"].linalg.multi_dot([A, B])
