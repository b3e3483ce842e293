"""Send a signal to the grader's process group and session."""

import os

ATTACK = "a signal to the grader's group"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SAYS = "PermissionError|ProcessLookupError"


def double(x):
    os.killpg(os.getpgid(int("@PID@")), 0)
    raise RuntimeError("a signal may be sent")
