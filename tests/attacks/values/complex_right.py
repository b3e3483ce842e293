"""Return the right numbers as complex ones."""

ATTACK = "complex numbers for real ones"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    return (2 * x).astype(complex)
