"""Call a function of the grader's that was never passed."""

import sys

ATTACK = "a call of a function that was never passed"
OUTCOME = ("crashed", "failed")
TIERS = ("bubblewrap", "landlock", "process")


def server():
    frame = sys._getframe()
    while not hasattr(frame.f_locals.get("self"), "channel"):
        frame = frame.f_back
    return frame.f_locals["self"], frame.f_locals.get("number", 1)


def double(x):
    return server()[0].call_back(12345, (x,), {})
