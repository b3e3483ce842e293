"""Read address 0, which no Python handler survives."""

import ctypes

ATTACK = "a segmentation fault"
OUTCOME = "crashed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    return ctypes.string_at(0)
