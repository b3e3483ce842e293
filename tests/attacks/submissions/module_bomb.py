"""Hand in an archive whose module is small, and large when it is unpacked; bounded here."""

import numpy as np

ATTACK = "a module that unpacks to a hundred times its size"
OUTCOME = "refused"
TIERS = ("bubblewrap", "landlock", "process")
PACKED = "zip"
TEXT = "@ZEROS@"


def double(x):
    return np.zeros_like(x)
