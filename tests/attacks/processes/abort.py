"""End with a core dump."""

import os

ATTACK = "os.abort()"
OUTCOME = "crashed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    os.abort()
