"""Change the root and work on from there."""

import os

ATTACK = "chroot"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "PermissionError"


def double(x):
    os.chroot("/tmp")
