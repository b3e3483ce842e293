"""Write a better mark into the gradebook."""

ATTACK = "the gradebook written"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SAYS = "PermissionError|FileNotFoundError|ProcessLookupError|NotADirectoryError|Read-only"


def double(x):
    with open("@GRADEBOOK@", "w") as file:
        file.write("everyone passed")
