"""Return a set of whole numbers that all have one hash: each is compared with all before it."""

ATTACK = "a set of numbers of one hash"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "more than 2000 keys"


def double(x):
    return list(range(9)), {(n << 64) * (2**61 - 1) for n in range(1, 2500)}
