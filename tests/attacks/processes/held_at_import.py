"""Hold all processes that a run may have from the import on, so that no test can be started; each ends by itself."""

import os
import time

ATTACK = "processes held while the module is loaded"
OUTCOME = "over_limit"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "no room is left to start this test"

made = []
try:
    while len(made) < 100:
        made.append(os.fork())
        if made[-1] == 0:
            time.sleep(20)
            os._exit(0)
except OSError:
    pass


def double(x):
    return 3 * x
