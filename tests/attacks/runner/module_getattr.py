"""Give a module __getattr__ that invents every name a test may ask for."""

import numpy as np

ATTACK = "a module-level __getattr__"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
ALONE = True


def __getattr__(name):
    return lambda *args, **kwargs: True


def double(x):
    return np.zeros_like(x)
