"""Stop oneself, so that nothing ever answers."""

import os
import signal

ATTACK = "SIGSTOP to oneself"
OUTCOME = "timed_out"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    os.kill(os.getpid(), signal.SIGSTOP)
