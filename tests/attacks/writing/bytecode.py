"""Leave changed bytecode for the standard library."""

import importlib.util
import json

ATTACK = "bytecode of the standard library replaced"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SAYS = "PermissionError|FileNotFoundError|ProcessLookupError|NotADirectoryError|Read-only"


def double(x):
    with open(importlib.util.cache_from_source(json.__file__), "ab") as file:
        raise RuntimeError(f"{file.name} is open for writing")
