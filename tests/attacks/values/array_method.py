"""Return an object whose __array__ and __array_interface__ give another array at each look."""

ATTACK = "__array__ and __array_interface__ that change"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


class Changing:
    def __init__(self, x):
        self.x = x

    def __array__(self, dtype=None, copy=None):
        return 2 * self.x

    @property
    def __array_interface__(self):
        return (2 * self.x).__array_interface__


def double(x):
    return Changing(x)
