"""Take memory in many processes, each below the limit of one; bounded here."""

import os
import time

ATTACK = "memory taken by many processes"
OUTCOME = ("over_limit", "timed_out", "crashed")
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    for _ in range(12):
        if os.fork() == 0:
            kept = bytearray(100 << 20)
            kept[::4096] = b"x" * len(kept[::4096])
            time.sleep(20)
            os._exit(0)
    time.sleep(20)
