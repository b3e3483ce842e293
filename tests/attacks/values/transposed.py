"""Return the right numbers in another shape of the same size."""

ATTACK = "the right numbers, another shape"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    return (2 * x).reshape(-1)
