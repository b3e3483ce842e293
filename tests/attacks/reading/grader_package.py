"""Import the grader's own comparison, for what it keeps."""

import importlib

ATTACK = "the grader's modules imported"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "ModuleNotFoundError"


def double(x):
    return importlib.import_module("grader.judging.grading").grade
