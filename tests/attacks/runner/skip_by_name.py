"""Raise exceptions named as a test runner's own for a skipped or an expectedly failing test."""

ATTACK = "an exception class named Skipped"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


class Skipped(Exception):
    __module__ = "_pytest.outcomes"


Skipped.__qualname__ = "Skipped"


def double(x):
    raise Skipped("no reason")
