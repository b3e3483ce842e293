"""Write over NumPy, which the grader imports as well."""

import numpy as np

ATTACK = "NumPy's files overwritten"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SAYS = "PermissionError|FileNotFoundError|ProcessLookupError|NotADirectoryError|Read-only"


def double(x):
    with open(np.__file__, "a") as file:
        raise RuntimeError(f"{file.name} is open for writing")
