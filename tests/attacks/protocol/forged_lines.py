"""Describe a traceback whose lines are negative, or numbers of thousands of digits."""

import sys
import time

ATTACK = "lines of thousands of digits"
OUTCOME = ("failed", "over_limit", "timed_out")
TIERS = ("bubblewrap", "landlock", "process")


def server():
    frame = sys._getframe()
    while not hasattr(frame.f_locals.get("self"), "channel"):
        frame = frame.f_back
    return frame.f_locals["self"], frame.f_locals.get("number", 1)


def double(x):
    own, number = server()
    definitions = sys.modules["grader.protocol.codec"]
    definitions.MAX_INTEGER = 1 << 16
    frames = [[-5, "double"], [10 ** (4000 if x.dtype == float else 5000), "double"]]
    described = [["ValueError"], "ValueError", 0, "said", None, frames, 0]
    own.channel.send(definitions.Encoder().frame([number, "error", ["", []], 0.0], [described, []]))
    time.sleep(60)  # the real answer must not come
