"""Stay in a C function that never looks for signals."""

import re

ATTACK = "an endless call in C"
OUTCOME = "timed_out"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    return re.match(r"(a+)+$", "a" * 60 + "b")
