"""Send a frame byte by byte, so that a deadline for each byte never passes."""

import struct
import sys
import time

ATTACK = "a frame that comes byte by byte"
OUTCOME = "timed_out"
TIERS = ("bubblewrap", "landlock", "process")


def server():
    frame = sys._getframe()
    while not hasattr(frame.f_locals.get("self"), "channel"):
        frame = frame.f_back
    return frame.f_locals["self"], frame.f_locals.get("number", 1)


def double(x):
    connection = server()[0].channel.socket
    connection.sendall(struct.pack("<4sIQ", b"AGW1", 100_000, 0))
    while True:
        connection.sendall(b"x")
        time.sleep(0.01)
