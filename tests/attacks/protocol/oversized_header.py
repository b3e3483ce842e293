"""Announce a frame of many gigabytes."""

import struct
import sys

ATTACK = "a header that announces too much"
OUTCOME = ("crashed", "over_limit")
TIERS = ("bubblewrap", "landlock", "process")


def server():
    frame = sys._getframe()
    while not hasattr(frame.f_locals.get("self"), "channel"):
        frame = frame.f_back
    return frame.f_locals["self"], frame.f_locals.get("number", 1)


def double(x):
    server()[0].channel.socket.sendall(struct.pack("<4sIQ", b"AGW1", 0xFFFFFFFF, 1 << 62))
