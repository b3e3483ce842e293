"""Raise KeyboardInterrupt, which ends a test session early; what had not failed by then was counted as passed."""

ATTACK = "KeyboardInterrupt inside the function"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    raise KeyboardInterrupt
