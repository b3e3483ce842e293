"""Leave a stopped daemon, which handles no request to end."""

import os
import signal
import time

ATTACK = "a stopped daemon"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    if os.fork() == 0:
        os.setsid()
        os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(120)
        os._exit(0)
    return x
