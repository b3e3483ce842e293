"""Make a hard link to the gradebook in the scratch folder, and read and write that."""

import os

ATTACK = "hard links into the scratch folder"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SAYS = "PermissionError|FileNotFoundError|ProcessLookupError|NotADirectoryError|cross-device|OSError"


def double(x):
    os.link("@GRADEBOOK@", "hard-@TOKEN_HINT@")
    with open("hard-@TOKEN_HINT@") as file:
        raise RuntimeError(file.read())
