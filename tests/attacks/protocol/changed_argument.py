"""Say that the argument was changed to zeros, so that the expectation becomes zeros as well."""

import sys
import time

import numpy as np

ATTACK = "a forged change of the argument"
OUTCOME = ("failed", "timed_out")
TIERS = ("bubblewrap", "landlock", "process")


def server():
    frame = sys._getframe()
    while not hasattr(frame.f_locals.get("self"), "channel"):
        frame = frame.f_back
    return frame.f_locals["self"], frame.f_locals.get("number", 1)


def double(x):
    own, number = server()
    encoder = sys.modules["grader.protocol.codec"].Encoder
    zeros = np.zeros_like(x)
    own.channel.send(encoder().frame([number, "ok", ["", []], 0.0], [zeros, [(0, zeros)]]))
    time.sleep(60)  # the real answer must not come
    return zeros
