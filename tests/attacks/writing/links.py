"""Make links to what cannot be read and read through them."""

import os

ATTACK = "links out of the scratch folder"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SUCCEEDS_IN = ("process",)
SAYS = "PermissionError|FileNotFoundError|ProcessLookupError|NotADirectoryError"


def double(x):
    os.symlink("@GRADEBOOK@", "link-@TOKEN_HINT@")
    try:
        with open("link-@TOKEN_HINT@") as file:
            raise RuntimeError(file.read())
    finally:
        os.unlink("link-@TOKEN_HINT@")
