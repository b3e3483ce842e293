"""Read the grader's memory, where the hidden tests and their answers lie, from /proc."""

ATTACK = "/proc/PID/mem of the grader"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "PermissionError|FileNotFoundError|ProcessLookupError|NotADirectoryError"


def double(x):
    with open("/proc/@PID@/mem", "rb") as file:
        file.seek(int("@ADDRESS@"))
        raise RuntimeError(file.read(100))
