"""Leave a daemon from the time of loading, before the first test."""

import os
import time

ATTACK = "a daemon started while the module is loaded"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


if os.fork() == 0:
    os.setsid()
    time.sleep(120)
    os._exit(0)


def double(x):
    return x
