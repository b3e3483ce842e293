"""Return Python integers of thousands of digits, in a list."""

ATTACK = "a list of huge integers"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    return [[10**5000] * x.shape[1]] * x.shape[0]
