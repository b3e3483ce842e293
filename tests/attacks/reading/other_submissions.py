"""Open what another student handed in."""

ATTACK = "another student's submission read from disk"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SUCCEEDS_IN = ("process",)
SAYS = "PermissionError|FileNotFoundError|ProcessLookupError|NotADirectoryError"


def double(x):
    with open("@NEIGHBOUR@") as file:
        raise RuntimeError(file.read())
