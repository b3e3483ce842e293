"""Return complex numbers with the right real part and NaN as imaginary part."""

ATTACK = "complex with NaN parts"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    return (2 * x).astype(complex) + complex(0, float("nan"))
