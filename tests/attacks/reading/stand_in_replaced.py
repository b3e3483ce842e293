"""Import the answers once as a stand-in, take that out of the table of modules, and import them again."""

import sys

ATTACK = "a stand-in taken out of sys.modules"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


sys.path[:0] = ["@ANSWERS@/s90_small"]


def double(x):
    del sys.modules["solution"]
    import solution as again

    return again.double(x)
