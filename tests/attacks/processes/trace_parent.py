"""Take the parent, which starts the process of each test, under control with ptrace."""

import ctypes
import os

ATTACK = "ptrace of the parent process"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "PermissionError|ProcessLookupError"


SEIZE = 0x4206


def double(x):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    if libc.ptrace(SEIZE, os.getppid(), None, None) < 0:
        raise OSError(ctypes.get_errno(), "ptrace")
    raise RuntimeError("attached")
