"""Send bytes that are no frame."""

import sys

ATTACK = "garbage on the connection"
OUTCOME = "crashed"
TIERS = ("bubblewrap", "landlock", "process")


def server():
    frame = sys._getframe()
    while not hasattr(frame.f_locals.get("self"), "channel"):
        frame = frame.f_back
    return frame.f_locals["self"], frame.f_locals.get("number", 1)


def double(x):
    server()[0].channel.socket.sendall(b"\xff" * 1000)
