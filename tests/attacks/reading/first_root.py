"""Leave the namespace by the root of the first process."""

ATTACK = "/proc/1/root"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SAYS = "PermissionError|FileNotFoundError|ProcessLookupError|NotADirectoryError"


def double(x):
    first, root = 1, "root"
    with open(f"/proc/{first}/{root}/@GRADEBOOK@") as file:
        raise RuntimeError(file.read())
