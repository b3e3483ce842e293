"""Change the exit code at exit."""

import atexit
import os

import numpy as np

ATTACK = "atexit calls os._exit(0)"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


atexit.register(os._exit, 0)


def double(x):
    return np.zeros_like(x)
