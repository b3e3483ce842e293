"""Leave with exit code 0 as soon as a function of a whole stage is called."""

import os

ATTACK = "os._exit(0) in the functions of stage s01"
OUTCOME = "crashed"
TIERS = ("bubblewrap", "landlock", "process")
STAGE = "s01"
ROW = "matmul"


def matmul(A, B):
    os._exit(0)


dot_product = outer_product = vector_norm = cosine_similarity = batched_matmul = matmul
