"""Send an answer by oneself, before the real one: later answers count for other calls."""

import sys

import numpy as np

ATTACK = "a forged answer before the real one"
OUTCOME = ("failed", "crashed")
TIERS = ("bubblewrap", "landlock", "process")


def server():
    frame = sys._getframe()
    while not hasattr(frame.f_locals.get("self"), "channel"):
        frame = frame.f_back
    return frame.f_locals["self"], frame.f_locals.get("number", 1)


def double(x):
    own, number = server()
    encoder = sys.modules["grader.protocol.codec"].Encoder
    own.channel.send(encoder().frame([number, "ok", ["", []], 0.0], [np.zeros_like(x), []]))
    return np.zeros_like(x)
