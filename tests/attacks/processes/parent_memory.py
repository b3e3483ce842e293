"""Write into the memory of the process from which each test's process is forked."""

import os

ATTACK = "/proc/PID/mem of the parent process"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "PermissionError|FileNotFoundError|ProcessLookupError|NotADirectoryError"


def double(x):
    with open(f"/proc/{os.getppid()}/mem", "r+b", buffering=0) as file:
        raise RuntimeError(f"opened {file.name}")
