"""Return an int subclass whose index and comparisons lie."""

ATTACK = "an int subclass"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


class Any(int):
    def __eq__(self, other):
        return True

    def __index__(self):
        return 0

    __hash__ = int.__hash__


def double(x):
    return Any(1)
