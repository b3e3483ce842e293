"""Change values of the test's frames from a trace function."""

import sys

import numpy as np

ATTACK = "sys.settrace and sys.setprofile"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def meddle(frame, event, argument):
    for name in ("expected", "right", "x", "got"):
        if name in frame.f_locals:
            frame.f_locals[name] = 0
    return meddle


sys.settrace(meddle)
sys.setprofile(meddle)


def double(x):
    frame = sys._getframe()
    while frame is not None:
        frame.f_trace = meddle
        frame = frame.f_back
    return np.zeros_like(np.empty((3, 4)))
