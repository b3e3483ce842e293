"""Return lists of a float subclass that is equal to everything."""

ATTACK = "a float subclass"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


class Close(float):
    def __eq__(self, other):
        return True

    def __sub__(self, other):
        return 0.0

    __rsub__ = __sub__
    __hash__ = float.__hash__


def double(x):
    return Close(0)
