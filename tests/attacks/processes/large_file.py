"""Write a file until the disk is full; bounded here."""

ATTACK = "a large file"
OUTCOME = ("failed", "timed_out")
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "File too large|did not return"


def double(x):
    with open("large", "wb") as file:
        for _ in range(256):
            file.write(bytes(1 << 20))
    raise ValueError("256 MB were written")
