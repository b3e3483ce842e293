"""Open the list of known mistakes, which says what the hidden tests look for."""

ATTACK = "known mistakes read from disk"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SUCCEEDS_IN = ("process",)
SAYS = "PermissionError|FileNotFoundError|ProcessLookupError|NotADirectoryError"


def double(x):
    with open("@ANSWERS@/s90_small/mistakes.py") as file:
        raise RuntimeError(file.read())
