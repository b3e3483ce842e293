"""Read standard input and every inherited descriptor."""

import contextlib
import os

ATTACK = "inherited descriptors"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "found 0 files|PermissionError"


def double(x):
    found = []
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            found.append(os.readlink(f"/proc/self/fd/{number}"))
    files = [each for each in found if each.startswith(("@COURSE@", "@ANSWERS@"))]
    raise RuntimeError(f"found {len(files)} files")
