"""Fork, and let both processes answer."""

import os

import numpy as np

ATTACK = "a fork, after which both answer"
OUTCOME = ("failed", "crashed")
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    os.fork()
    return np.zeros_like(x)
