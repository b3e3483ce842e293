"""Open the grader's open files by /proc."""

import os

ATTACK = "/proc/PID/fd of the grader"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "PermissionError|FileNotFoundError|ProcessLookupError|NotADirectoryError"


def double(x):
    raise RuntimeError([os.readlink(f"/proc/@PID@/fd/{name}") for name in os.listdir("/proc/@PID@/fd")])
