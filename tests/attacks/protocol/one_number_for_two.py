"""Give a function and a class one number in the table of the module's names."""

import sys

ATTACK = "one number for two names"
OUTCOME = "not loaded"
TIERS = ("bubblewrap", "landlock", "process")

serve = sys.modules["grader.worker.server"]
serve.Server.names = lambda self: [["double", "function", 1, []], ["visit", "class", 1, []]]


def double(x):
    return 2 * x
