"""Become root in a user namespace of one's own, which opens the kernel's rarely used corners."""

import ctypes

ATTACK = "a user namespace of one's own"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
NEEDS = "seccomp"
SAYS = "PermissionError|No space left"


def double(x):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(0x10000000) < 0:
        raise OSError(ctypes.get_errno(), "unshare")
    raise RuntimeError("a namespace was made")
