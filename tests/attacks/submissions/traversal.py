"""Hand in an archive whose members lie above it, to write over the course where it is unpacked."""

import numpy as np

ATTACK = "an archive with paths upwards"
OUTCOME = ("refused", "failed")
TIERS = ("bubblewrap", "landlock", "process")
PACKED = "zip"
FILES = {"../../course/taken": "@PLANTED@", "@COURSE@/taken": "@PLANTED@", "../small.py": "@PLANTED@"}


def double(x):
    return np.zeros_like(x)
