"""Change how a file that others use is kept, which needs no right to write it where it is one's user's own."""

import array
import fcntl

import numpy

ATTACK = "flags of NumPy's files"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
NEEDS = "seccomp"
SAYS = "PermissionError"


def double(x):
    with open(numpy.__file__, "rb") as file:
        set_flags, no_dump = 0x40086602, 0x40
        fcntl.ioctl(file, set_flags, array.array("l", [no_dump]))
    raise RuntimeError("changed")
