"""Warn without a bound; bounded here."""

import warnings

ATTACK = "a flood of warnings"
OUTCOME = ("failed", "timed_out")
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    for number in range(20_000):
        warnings.warn(f"warning {number} " + "x" * 100, stacklevel=2)
    return x
