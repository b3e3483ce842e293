"""Leave a chain of processes, each of which starts the next one and ends, to run ahead of whoever kills them."""

import os
import time

ATTACK = "processes that start the next one and end"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    if os.fork() == 0:
        os.setsid()
        until = time.monotonic() + 20
        while time.monotonic() < until:
            if os.fork() != 0:
                os._exit(0)
            time.sleep(0.002)
        os._exit(0)
    return x
