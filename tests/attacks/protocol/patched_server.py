"""Replace the part of the worker that answers, for all tests to come."""

import sys

import numpy as np

ATTACK = "the worker's own functions patched"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def server():
    frame = sys._getframe()
    while not hasattr(frame.f_locals.get("self"), "channel"):
        frame = frame.f_back
    return frame.f_locals["self"], frame.f_locals.get("number", 1)


def double(x):
    own = server()[0]
    type(own)._perform = staticmethod(lambda *args: True)
    type(own).describe = lambda self, error: [[], "", 0, "", None, [], 0]
    sys.modules["grader.worker.server"].OPERATIONS.clear()
    return np.zeros_like(x)
