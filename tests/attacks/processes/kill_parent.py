"""Kill the process that starts the process of each test."""

import os
import signal

import numpy as np

ATTACK = "SIGKILL to the parent process"
OUTCOME = ("failed", "crashed")
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    os.kill(os.getppid(), signal.SIGKILL)
    return np.zeros_like(x)
