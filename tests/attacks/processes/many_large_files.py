"""Fill the disk by files that are each below the limit of one; bounded here."""

import os

ATTACK = "many files"
OUTCOME = ("failed", "timed_out")
TIERS = ("bubblewrap",)
SAYS = "No space left|did not return"


def double(x):
    written = 0
    try:
        for number in range(24):
            with open(f"part{number}", "wb") as file:
                for _ in range(12):
                    written += file.write(bytes(1 << 20))
    finally:
        for number in range(24):
            if os.path.exists(f"part{number}"):
                os.unlink(f"part{number}")
    raise ValueError(f"wrote {written >> 20} MB")
