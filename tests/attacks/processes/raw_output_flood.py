"""Write to the standard streams' descriptors without a bound; bounded here."""

import os

ATTACK = "a flood of output by os.write"
OUTCOME = ("failed", "timed_out")
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    for _ in range(2000):
        os.write(1, b"x" * 20_000)
        os.write(2, b"x" * 20_000)
    return x
