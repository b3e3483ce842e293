"""Raise GeneratorExit, which no `except Exception` catches."""

ATTACK = "GeneratorExit inside the function"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    raise GeneratorExit
