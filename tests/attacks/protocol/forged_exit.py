"""Describe an exception as the grader's own fault, which is never counted against a learner."""

import sys
import time

ATTACK = "a forged fault of the grader"
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
    described = [["WireError", "WorkerFailed"], "GraderFault", 0, "grader fault", None, [], 0]
    own.channel.send(encoder().frame([number, "error", ["", []], 0.0], [described, []]))
    time.sleep(60)  # the real answer must not come
