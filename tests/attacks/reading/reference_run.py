"""Load the reference from its file and let it answer."""

import runpy

ATTACK = "the reference solution run in place of one's own"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SUCCEEDS_IN = ("process",)
SAYS = "PermissionError|FileNotFoundError|ProcessLookupError|NotADirectoryError"


def double(x):
    return runpy.run_path("@ANSWERS@/s90_small/solution.py")["double"](x)
