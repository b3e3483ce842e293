"""Hand in bytecode beside the module, which Python prefers where times agree."""

import numpy as np

ATTACK = "bytecode in __pycache__ beside the module"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
FILES = {"__pycache__/small.cpython-311.pyc": "not bytecode", "small.pyc": "x", "small.so": "x", "small.abi3.so": "x"}


def double(x):
    return np.zeros_like(x)
