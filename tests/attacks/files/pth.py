"""Hand in a .pth file, a line of which is run at the start of an interpreter."""

import numpy as np

ATTACK = "a .pth file beside the module"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
FILES = {"attack.pth": "import pathlib; pathlib.Path('@COURSE@/taken').touch()\n", "pyvenv.cfg": "home = /nowhere\n"}


def double(x):
    return np.zeros_like(x)
