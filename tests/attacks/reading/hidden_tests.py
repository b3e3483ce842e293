"""Open the hidden tests by their path: graders that keep them where the student's process runs fell to it."""

ATTACK = "hidden tests read from disk"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SUCCEEDS_IN = ("process",)
SAYS = "PermissionError|FileNotFoundError|ProcessLookupError|NotADirectoryError"


def double(x):
    with open("@ANSWERS@/s90_small/test_hidden.py") as file:
        raise RuntimeError(file.read())
