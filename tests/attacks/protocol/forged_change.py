"""Say that an argument was changed which was never sent, or to an object."""

import sys
import time

import numpy as np

ATTACK = "forged changes of arguments"
OUTCOME = "crashed"
TIERS = ("bubblewrap", "landlock", "process")


def server():
    frame = sys._getframe()
    while not hasattr(frame.f_locals.get("self"), "channel"):
        frame = frame.f_back
    return frame.f_locals["self"], frame.f_locals.get("number", 1)


def double(x):
    own, number = server()
    encoder = sys.modules["grader.protocol.codec"].Encoder
    own.channel.send(encoder().frame([number, "ok", ["", []], 0.0], [np.zeros_like(x), [(0, 2 * x), (7, 0)]]))
    time.sleep(60)  # the real answer must not come
    return np.zeros_like(x)
