"""Hand in a module with a null byte, at which some readers end and others go on."""

import numpy as np

ATTACK = "a null byte in the module"
OUTCOME = "not loaded"
TIERS = ("bubblewrap", "landlock", "process")
TEXT = "@NULL@"


def double(x):
    return np.zeros_like(x)
