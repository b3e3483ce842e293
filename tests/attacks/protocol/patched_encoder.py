"""Send arrays of a dtype, a shape and a size that do not fit each other."""

import sys

ATTACK = "an array whose description lies"
OUTCOME = "crashed"
TIERS = ("bubblewrap", "landlock", "process")


def server():
    frame = sys._getframe()
    while not hasattr(frame.f_locals.get("self"), "channel"):
        frame = frame.f_back
    return frame.f_locals["self"], frame.f_locals.get("number", 1)


def double(x):
    own, number = server()
    wire = sys.modules["grader.protocol.codec"]
    encoder = wire.Encoder()
    encoder.encode = lambda value, depth=0: [wire.ARRAY, "float64", [1 << 40, 1 << 40], "C", 0]
    own.channel.send(encoder.frame([number, "ok", ["", []], 0.0], [x, []]))
