"""Import the hidden tests and the reference as the package they are in the author's copy."""

import importlib

ATTACK = "grader.hidden imported"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "ModuleNotFoundError"


def double(x):
    module = importlib.import_module("grader.hidden.s01_matrix_operations.solution")
    raise RuntimeError(module.__doc__)
