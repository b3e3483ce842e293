"""Patch NumPy's comparisons and answer every function of a whole stage with zeros."""

import numpy as np

ATTACK = "NumPy patched in stage s01"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
STAGE = "s01"
ROW = "matmul"

np.allclose = np.array_equal = lambda *args, **kwargs: True


def matmul(A, B):
    return np.zeros((len(A), 1))


dot_product = outer_product = vector_norm = cosine_similarity = batched_matmul = matmul
