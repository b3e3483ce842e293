"""Hand in an archive that is small, and large when it is unpacked; bounded here."""

import numpy as np

ATTACK = "an archive that unpacks to a hundred times its size"
OUTCOME = ("refused", "failed")
TIERS = ("bubblewrap", "landlock", "process")
PACKED = "zip"
FILES = {"data.txt": "@ZEROS@", "more.txt": "@ZEROS@"}


def double(x):
    return np.zeros_like(x)
