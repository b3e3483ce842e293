"""Open files until there is no descriptor left; bounded here."""

import os

ATTACK = "many open files"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "Too many open files"


def double(x):
    return [os.open("/dev/null", os.O_RDONLY) for _ in range(1000)]
