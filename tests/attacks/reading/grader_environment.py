"""Read the grader's environment from /proc."""

ATTACK = "/proc/PID/environ of the grader"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "PermissionError|FileNotFoundError|ProcessLookupError|NotADirectoryError"


def double(x):
    with open("/proc/@PID@/environ", "rb") as file:
        raise RuntimeError(file.read())
