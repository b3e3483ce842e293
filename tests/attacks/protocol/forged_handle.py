"""Return handles with names that the grader's own proxies use."""

import sys
import time

import numpy as np

ATTACK = "a forged handle"
OUTCOME = ("failed", "crashed", "timed_out")
TIERS = ("bubblewrap", "landlock", "process")


def server():
    frame = sys._getframe()
    while not hasattr(frame.f_locals.get("self"), "channel"):
        frame = frame.f_back
    return frame.f_locals["self"], frame.f_locals.get("number", 1)


class Thing:
    pass


def double(x):
    own, number = server()
    wire = sys.modules["grader.protocol.codec"]

    def wrap(value):
        forged = [wire.HANDLE, 0, "exception", "__class__", [], ["SystemExit"]]
        return forged if isinstance(value, Thing) else None

    own.channel.send(wire.Encoder(wrap).frame([number, "ok", ["", []], 0.0], [Thing(), []]))
    time.sleep(60)  # the real answer must not come
    return np.zeros_like(x)
