"""Become root again, and use what root may."""

import os

ATTACK = "setuid(0)"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "PermissionError|Invalid argument"  # the latter where no root is known in the namespace


def double(x):
    os.setuid(0)  # which changes nothing where the user is root in name alone
    os.chroot("/")
    raise RuntimeError("it worked")
