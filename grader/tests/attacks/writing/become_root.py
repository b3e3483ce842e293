"""Become root again."""

import os

ATTACK = "setuid(0)"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "PermissionError|root"


def double(x):
    os.setuid(0)
    raise RuntimeError("root")
