"""Return an object that is equal to everything, has every shape and no difference to anything."""

ATTACK = "__eq__ that is always True"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


class Same:
    shape, dtype, ndim, size = (3, 4), float, 2, 12

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    def __bool__(self):
        return True

    def __sub__(self, other):
        return 0

    __rsub__ = __abs__ = __lt__ = __le__ = __gt__ = __ge__ = __sub__
    __hash__ = None


def double(x):
    return Same()
