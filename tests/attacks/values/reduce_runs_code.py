"""Return an object whose __reduce__ runs a program where it is unpickled."""

import os

ATTACK = "a pickle that runs code"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


class Payload:
    def __reduce__(self):
        return os.system, ("touch @COURSE@/taken",)


def double(x):
    return Payload()
