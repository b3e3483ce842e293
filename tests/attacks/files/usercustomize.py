"""Hand in a usercustomize.py in the folder of a user's packages."""

import numpy as np

ATTACK = "usercustomize.py beside the module"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
FILES = {"usercustomize.py": "@PLANTED@", ".local/lib/python3.11/site-packages/usercustomize.py": "@PLANTED@"}


def double(x):
    return np.zeros_like(x)
