"""Open the gradebook and show other people's marks."""

ATTACK = "the gradebook read from disk"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SUCCEEDS_IN = ("process",)
SAYS = "PermissionError|FileNotFoundError|ProcessLookupError|NotADirectoryError"


def double(x):
    with open("@GRADEBOOK@") as file:
        raise RuntimeError(file.read())
