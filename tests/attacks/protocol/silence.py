"""Close the connection and stay."""

import sys
import time

ATTACK = "a closed connection"
OUTCOME = "crashed"
TIERS = ("bubblewrap", "landlock", "process")


def server():
    frame = sys._getframe()
    while not hasattr(frame.f_locals.get("self"), "channel"):
        frame = frame.f_back
    return frame.f_locals["self"], frame.f_locals.get("number", 1)


def double(x):
    server()[0].channel.close()
    time.sleep(5)
