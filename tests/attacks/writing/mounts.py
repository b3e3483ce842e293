"""Mount something over what is read-only, or the gradebook's folder into the scratch folder."""

import ctypes
import os

ATTACK = "mount"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "PermissionError"


def double(x):
    libc = ctypes.CDLL(None, use_errno=True)
    os.makedirs("mounted", exist_ok=True)
    if libc.mount(b"none", b"mounted", b"tmpfs", 0, None) < 0:
        raise OSError(ctypes.get_errno(), "mount")
    libc.umount2(b"mounted", 2)
    raise RuntimeError("mounted")
