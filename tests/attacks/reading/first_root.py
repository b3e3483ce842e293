"""Leave the namespace by the root of the first process."""

ATTACK = "/proc/1/root"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SAYS = "PermissionError|FileNotFoundError|ProcessLookupError|NotADirectoryError"


ONE = 1


def double(x):
    with open(f"/proc/{ONE}/root/@GRADEBOOK@") as file:
        raise RuntimeError(file.read())
