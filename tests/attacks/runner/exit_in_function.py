"""Leave with exit code 0 from within the function: runners that read a pass from the exit code fell to it."""

import os

ATTACK = "os._exit(0) inside the function"
OUTCOME = "crashed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    os._exit(0)
