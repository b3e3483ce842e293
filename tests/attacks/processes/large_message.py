"""Raise an exception with a text of many megabytes."""

ATTACK = "an exception of 20 MB of text"
OUTCOME = ("failed", "timed_out")
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    raise ValueError("x" * (20 << 20))
