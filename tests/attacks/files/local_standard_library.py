"""Hand in modules named as the standard library's, which the grader imports later."""

import numpy as np

ATTACK = "a local json.py, socket.py and struct.py"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
FILES = {"json.py": "@PLANTED@", "socket.py": "@PLANTED@", "struct.py": "@PLANTED@", "random.py": "@PLANTED@"}


def double(x):
    return np.zeros_like(x)
