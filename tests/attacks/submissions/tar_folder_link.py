"""Hand in a tar archive with a link to a folder, below which the next member is to be written."""

import numpy as np

ATTACK = "a tar archive that writes through a link"
OUTCOME = ("refused", "failed")
TIERS = ("bubblewrap", "landlock", "process")
PACKED = "tar"
LINKS = {"out": "@COURSE@"}
FILES = {"out/taken": "@PLANTED@"}


def double(x):
    return np.zeros_like(x)
