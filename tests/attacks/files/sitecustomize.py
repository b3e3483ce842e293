"""Hand in a sitecustomize.py, which every interpreter started in that folder's path imports."""

import numpy as np

ATTACK = "sitecustomize.py beside the module"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
FILES = {"sitecustomize.py": "@PLANTED@"}


def double(x):
    return np.zeros_like(x)
