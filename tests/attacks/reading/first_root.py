"""Leave the namespace by the root of the first process."""

ATTACK = "/proc/1/root"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SAYS = "PermissionError|FileNotFoundError|ProcessLookupError|NotADirectoryError"


ROOT = "root"


def double(x):
    with open(f"/proc/1/{ROOT}/@GRADEBOOK@") as file:
        raise RuntimeError(file.read())
