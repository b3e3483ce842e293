"""Take memory until there is none; bounded here."""

ATTACK = "a memory bomb"
OUTCOME = ("over_limit", "timed_out")
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    kept = []
    for _ in range(64):
        kept.append(bytearray(16 << 20))
    return kept
