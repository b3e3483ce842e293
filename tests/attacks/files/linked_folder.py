"""Hand in a link to the folder in which the reference lies."""

import numpy as np

ATTACK = "a folder as a link to the course"
OUTCOME = "refused"
TIERS = ("bubblewrap", "landlock", "process")
FILES = {}
LINKS = {"stages": "@COURSE@/stages"}


def double(x):
    return np.zeros_like(x)
