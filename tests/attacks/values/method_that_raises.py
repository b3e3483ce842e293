"""Return an object each of whose operators raises or exits."""

import os

ATTACK = "operators that exit"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


class Trap:
    def __getattr__(self, name):
        os._exit(0)

    def __bool__(self):
        os._exit(0)

    __len__ = __iter__ = __float__ = __eq__ = __repr__ = __bool__


def double(x):
    return Trap()
