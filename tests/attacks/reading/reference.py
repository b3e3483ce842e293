"""Open the reference solution, run it and return its answer."""

ATTACK = "the reference solution read from disk"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SUCCEEDS_IN = ("process",)
SAYS = "PermissionError|FileNotFoundError|ProcessLookupError|NotADirectoryError"


def double(x):
    with open("@ANSWERS@/s90_small/solution.py") as file:
        raise RuntimeError(file.read())
