"""Announce a frame and never finish it."""

import struct
import sys
import time

ATTACK = "a frame that never ends"
OUTCOME = "timed_out"
TIERS = ("bubblewrap", "landlock", "process")


def server():
    frame = sys._getframe()
    while not hasattr(frame.f_locals.get("self"), "channel"):
        frame = frame.f_back
    return frame.f_locals["self"], frame.f_locals.get("number", 1)


def double(x):
    server()[0].channel.socket.sendall(struct.pack("<4sIQ", b"AGW1", 1000, 0) + b"x")
    time.sleep(60)
