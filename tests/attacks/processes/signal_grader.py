"""Send the grader a signal."""

import os
import signal

ATTACK = "a signal to the grader"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SAYS = "PermissionError|ProcessLookupError"


def double(x):
    os.kill(int("@PID@"), signal.SIGUSR1)
