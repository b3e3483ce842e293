"""Load the reference of a whole stage from the author's copy and let it answer."""

import runpy

ATTACK = "the reference of stage s01 run in place of one's own"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
STAGE = "s01"
ROW = "matmul"
SAYS = "PermissionError|FileNotFoundError"


def matmul(A, B):
    return runpy.run_path("@AUTHORS@/grader/hidden/s01_matrix_operations/solution.py")["matmul"](A, B)
