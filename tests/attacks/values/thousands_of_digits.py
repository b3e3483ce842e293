"""Return a whole number of more digits than Python writes: a message that shows it raises."""

ATTACK = "a number of 5,000 digits"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "a whole number of .* bytes"


def double(x):
    return 10**5000
