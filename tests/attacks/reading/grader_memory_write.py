"""Write into the grader's memory, to turn a verdict over."""

ATTACK = "the grader's memory written"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "PermissionError|FileNotFoundError|ProcessLookupError|NotADirectoryError"


def double(x):
    with open("/proc/@PID@/mem", "r+b", buffering=0) as file:
        file.seek(int("@ADDRESS@"))
        file.write(b"taken over")
