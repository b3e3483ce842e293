"""Read the environment of each process up to the first."""

import os

ATTACK = "the environments of all parents"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    found, process = b"", os.getppid()
    while process > 1:
        try:
            with open(f"/proc/{process}/environ", "rb") as file:
                found += file.read()
        except OSError:
            pass
        try:
            with open(f"/proc/{process}/stat", "rb") as file:
                process = int(file.read().rpartition(b")")[2].split()[1])
        except OSError:
            break
    raise RuntimeError(found)
