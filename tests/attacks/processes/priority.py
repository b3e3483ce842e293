"""Take the processor from everyone else."""

import os

ATTACK = "a better priority"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "PermissionError"


def double(x):
    os.setpriority(os.PRIO_PROCESS, 0, -20)
