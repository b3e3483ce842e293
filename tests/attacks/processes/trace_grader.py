"""Take the grader under control with ptrace."""

import ctypes

ATTACK = "ptrace of the grader"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "PermissionError|ProcessLookupError"


SEIZE = 0x4206


def double(x):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    if libc.ptrace(SEIZE, int("@PID@"), None, None) < 0:
        raise OSError(ctypes.get_errno(), "ptrace")
    raise RuntimeError("attached")
