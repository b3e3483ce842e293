"""Hand in bytes that are not the text that they claim to be."""

import numpy as np

ATTACK = "bytes that are no text"
OUTCOME = "not loaded"
TIERS = ("bubblewrap", "landlock", "process")
TEXT = "@BYTES@"


def double(x):
    return np.zeros_like(x)
