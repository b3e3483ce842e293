"""Return lists nested a hundred thousand deep, which exhaust the stack of whoever walks them."""

ATTACK = "lists nested very deep"
OUTCOME = ("failed", "timed_out")
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    result = []
    for _ in range(100_000):
        result = [result]
    return result
