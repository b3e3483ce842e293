"""Print without a bound; bounded here."""

ATTACK = "a flood of output by print"
OUTCOME = ("failed", "timed_out")
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    for _ in range(2000):
        print("x" * 20_000)
    return x
