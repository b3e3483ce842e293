"""Write a file until the disk is full, and take the kernel's signal as it comes; bounded here."""

import signal

ATTACK = "a large file, and the signal that ends it"
OUTCOME = ("over_limit", "timed_out")
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "it wrote a file of more than|did not return"


def double(x):
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    with open("large", "wb") as file:
        for _ in range(256):
            file.write(bytes(1 << 20))
    raise ValueError("256 MB were written")
