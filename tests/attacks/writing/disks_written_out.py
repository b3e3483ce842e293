"""Have all that the machine has not yet written go to its disks at once, so that everybody waits."""

import ctypes
import os

ATTACK = "disks that all use, written out"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
NEEDS = "seccomp"
SAYS = "PermissionError"


def double(x):
    libc = ctypes.CDLL(None, use_errno=True)
    with open("file", "wb") as file:
        file.write(b"x" * 100_000)
        os.fsync(file.fileno())  # goes on, and writes nothing out
        if libc.syncfs(file.fileno()) == -1:
            raise OSError(ctypes.get_errno(), "refused")
    raise RuntimeError("written out")
