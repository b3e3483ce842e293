"""Return two hundred thousand lists."""

ATTACK = "many small lists"
OUTCOME = ("failed", "timed_out")
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    return [[] for _ in range(200_000)]
