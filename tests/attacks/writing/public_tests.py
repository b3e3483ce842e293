"""Write over the public tests."""

ATTACK = "public tests overwritten"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SAYS = "PermissionError|FileNotFoundError|ProcessLookupError|NotADirectoryError|Read-only"


def double(x):
    with open("@COURSE@/stages/s90_small/tests/test_small.py", "w") as file:
        file.write("")
