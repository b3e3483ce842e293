"""Fetch an open file of the grader with pidfd_getfd."""

import ctypes
import os

ATTACK = "pidfd_getfd"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "PermissionError|FileNotFoundError|ProcessLookupError|NotADirectoryError"


def double(x):
    libc = ctypes.CDLL(None, use_errno=True)
    process = os.pidfd_open(int("@PID@"))
    for number in range(3, 20):
        taken = libc.syscall(438, process, number, 0)
        if taken >= 0:
            raise RuntimeError(f"taken: {os.fstat(taken)}")
    raise OSError(ctypes.get_errno(), "pidfd_getfd")
