"""Leave threads that are no daemons and never end."""

import threading
import time

ATTACK = "threads that outlive the run"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    for _ in range(5):
        threading.Thread(target=time.sleep, args=(120,)).start()
    return x
