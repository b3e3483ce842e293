"""Send all signals that can be caught or ignored to oneself."""

import os
import signal

ATTACK = "signals to oneself"
OUTCOME = "crashed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    for number in (signal.SIGCHLD, signal.SIGWINCH, signal.SIGTERM):
        os.kill(os.getpid(), number)
    return x
