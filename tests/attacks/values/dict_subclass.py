"""Return a dict subclass that holds every key."""

ATTACK = "a dict subclass"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


class Everything(dict):
    def __missing__(self, key):
        return self

    def __eq__(self, other):
        return True


def double(x):
    return Everything()
