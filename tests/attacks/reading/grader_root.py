"""Leave the namespace by the root and the working folder of the grader in /proc."""

ATTACK = "/proc/PID/root and cwd of the grader"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SAYS = "PermissionError|FileNotFoundError|ProcessLookupError|NotADirectoryError"


def double(x):
    for name in ("root", "cwd"):
        with open(f"/proc/@PID@/{name}/@GRADEBOOK@") as file:
            raise RuntimeError(file.read())
