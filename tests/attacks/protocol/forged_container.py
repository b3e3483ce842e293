"""Return containers whose content is no container, with handles of classes and names of the grader's own."""

import sys
import time

import numpy as np

ATTACK = "a forged container"
OUTCOME = ("failed", "crashed", "timed_out")
TIERS = ("bubblewrap", "landlock", "process")


def server():
    frame = sys._getframe()
    while not hasattr(frame.f_locals.get("self"), "channel"):
        frame = frame.f_back
    return frame.f_locals["self"], frame.f_locals.get("number", 1)


class Thing(tuple):
    pass


def double(x):
    own, number = server()
    wire = sys.modules["grader.protocol.codec"]

    def wrap(value):
        return [wire.EXTENDS, 0, "object", "__class__", [0], []] if isinstance(value, Thing) else None

    own.channel.send(wire.Encoder(wrap).frame([number, "ok", ["", []], 0.0], [Thing([Thing()]), []]))
    time.sleep(60)  # the real answer must not come
    return np.zeros_like(x)
