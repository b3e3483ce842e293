"""Return an array and go on changing it, and the argument, from a thread."""

import threading
import time

import numpy as np

ATTACK = "a thread changes the result after the return"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    result = np.zeros_like(x)

    def later():
        for _ in range(50):
            x[...] = 0
            result[...] = 0
            time.sleep(0.001)

    threading.Thread(target=later, daemon=True).start()
    return result
