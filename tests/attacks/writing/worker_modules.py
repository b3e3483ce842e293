"""Write over the modules that the next worker will run."""

import sys

ATTACK = "the worker's own modules overwritten"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SAYS = "PermissionError|FileNotFoundError|ProcessLookupError|NotADirectoryError|Read-only"


def double(x):
    with open(sys.modules["grader.worker.server"].__file__, "a") as file:
        raise RuntimeError(f"{file.name} is open for writing")
