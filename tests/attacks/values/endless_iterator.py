"""Return an iterator without end."""

ATTACK = "an endless generator"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    while True:
        yield x
