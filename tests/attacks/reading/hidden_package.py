"""Import the hidden tests and the reference as the package they are in the author's copy."""

import importlib

ATTACK = "hidden imported"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "ModuleNotFoundError"


def double(x):
    module = importlib.import_module("hidden.s01_matrix_operations.solution")
    raise RuntimeError(module.__doc__)
