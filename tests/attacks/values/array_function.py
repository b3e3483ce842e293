"""Return an object whose __array_function__ says True to allclose, array_equal and all."""

ATTACK = "__array_function__"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


class Agreeable:
    def __array_function__(self, function, types, args, kwargs):
        return True

    def __array__(self, *args, **kwargs):
        raise TypeError("no array")


def double(x):
    return Agreeable()
