"""Raise an exception whose argument is a whole number of more digits than Python writes."""

ATTACK = "an exception of 5,000 digits"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "ValueError"


def double(x):
    raise ValueError(10**5000)
