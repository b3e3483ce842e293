"""Start processes until there is no room; bounded here, and each ends by itself."""

import os
import time

ATTACK = "a fork bomb"
OUTCOME = ("failed", "timed_out")
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "BlockingIOError|PermissionError|did not return"


def double(x):
    for _ in range(200):
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
    raise RuntimeError("200 processes were started")
