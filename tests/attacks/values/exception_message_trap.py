"""Raise an exception whose text cannot be made."""

ATTACK = "an exception whose __str__ raises"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


class Bad(Exception):
    def __str__(self):
        raise SystemExit(0)

    __repr__ = __str__


def double(x):
    raise Bad
