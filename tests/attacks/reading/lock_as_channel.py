"""Lock files that every submission can open: another run, at the same time, sees whether they are locked."""

import contextlib
import fcntl
import os

import numpy as np

ATTACK = "locks of shared files as a channel between two runs"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SAYS = "locked 0 times"
NEEDS = "seccomp"


def locks(file):
    yield lambda: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    yield lambda: fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    yield lambda: fcntl.fcntl(file, 1024, fcntl.F_RDLCK)


def double(x):
    locked = 0
    for path in (np.__file__, os.__file__, "/dev/null"):
        with contextlib.suppress(PermissionError), open(path) as file:
            for lock in locks(file):
                with contextlib.suppress(PermissionError):
                    lock()
                    locked += 1
    raise RuntimeError(f"locked {locked} times")
