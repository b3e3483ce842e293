"""Hand in a tar archive with absolute paths and paths upwards."""

import numpy as np

ATTACK = "a tar archive with paths upwards"
OUTCOME = ("refused", "failed")
TIERS = ("bubblewrap", "landlock", "process")
PACKED = "tar"
FILES = {"../../course/taken": "@PLANTED@", "@COURSE@/taken": "@PLANTED@"}


def double(x):
    return np.zeros_like(x)
