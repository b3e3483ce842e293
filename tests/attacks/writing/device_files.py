"""Make the disk's device file and read the disk."""

import os
import stat

ATTACK = "mknod of a disk"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "PermissionError"


def double(x):
    os.mknod("disk", 0o600 | stat.S_IFBLK, os.makedev(8, 0))
