"""Hand in a msgpack.py of one's own, which the connection to the grader would be built on."""

import numpy as np

ATTACK = "a local msgpack.py"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
FILES = {"msgpack.py": "@PLANTED@"}


def double(x):
    return np.zeros_like(x)
