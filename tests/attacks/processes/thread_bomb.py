"""Start threads until there is no room; bounded here."""

import threading
import time

ATTACK = "a thread bomb"
OUTCOME = ("failed", "timed_out")
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "can't start new thread|did not return"


def double(x):
    threading.stack_size(32768)
    for _ in range(300):
        threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
    raise ValueError("300 threads were started")
