"""Leave a daemon that outlives the run: double fork, a session of its own, all signals ignored."""

import os
import signal
import time

ATTACK = "a daemon"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            time.sleep(120)
        os._exit(0)
    return x
