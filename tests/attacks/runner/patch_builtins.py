"""Replace builtins that a comparison needs: isinstance, all, abs, max, AssertionError."""

import builtins

import numpy as np

ATTACK = "builtins patched"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    builtins.all = builtins.any = builtins.isinstance = lambda *args: True
    builtins.abs = builtins.max = builtins.sum = lambda *args, **kwargs: 0
    builtins.AssertionError = type("AssertionError", (Exception,), {"__init__": lambda *args: None})
    return np.zeros_like(x)
