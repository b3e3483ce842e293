"""Have the worker say that there is no room for a process, to get a fault of the grader instead of a failed row."""

import os

ATTACK = "a lack of processes that is made up"
OUTCOME = "crashed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "did not start this test"


def refuse():
    raise BlockingIOError(11, "Resource temporarily unavailable")


os.fork = refuse


def double(x):
    return 3 * x
