"""Return numbers as text."""

ATTACK = "an array of text"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    return (2 * x).astype(str)
