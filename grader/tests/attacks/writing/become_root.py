"""Become root again."""

import os

ATTACK = "setuid(0)"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "PermissionError|Invalid argument"  # the latter where no root is known in the namespace


def double(x):
    os.setuid(0)
    raise RuntimeError("it worked")
