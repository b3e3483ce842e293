"""Take memory until there is none while the module is loaded; bounded here."""

ATTACK = "a memory bomb while the module is loaded"
OUTCOME = "not loaded"
TIERS = ("bubblewrap", "landlock", "process")


kept = [bytearray(16 << 20) for _ in range(64)]


def double(x):
    return x
