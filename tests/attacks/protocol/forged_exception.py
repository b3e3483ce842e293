"""Describe an exception by names of classes that end the grader or skip the test."""

import sys
import time

ATTACK = "a forged description of an exception"
OUTCOME = ("failed", "timed_out")
TIERS = ("bubblewrap", "landlock", "process")


def server():
    frame = sys._getframe()
    while not hasattr(frame.f_locals.get("self"), "channel"):
        frame = frame.f_back
    return frame.f_locals["self"], frame.f_locals.get("number", 1)


def double(x):
    own, number = server()
    encoder = sys.modules["grader.protocol.codec"].Encoder
    described = [["Skipped", "Exit", "BaseException"], "Skipped", 0, "skipped", None, [], 0]
    own.channel.send(encoder().frame([number, "error", ["", []], 0.0], [described, []]))
    time.sleep(60)  # the real answer must not come
