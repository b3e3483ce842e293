"""Read the command lines of all processes, for paths, seeds and tokens."""

import os

ATTACK = "the list of processes"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SAYS = "found 0 graders|PermissionError"


def double(x):
    found = []
    for name in os.listdir("/proc"):
        if name == "@PID@":
            with open(f"/proc/{name}/cmdline", "rb") as file:
                found.append(file.read())
    raise RuntimeError(f"found {len(found)} graders")
