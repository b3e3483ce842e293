"""Use up the file system's inodes; bounded here."""

import os
import time

ATTACK = "many small files"
OUTCOME = ("over_limit", "crashed", "timed_out")
TIERS = ("landlock",)


def double(x):
    for number in range(5000):
        os.close(os.open(f"file{number}", os.O_CREAT | os.O_WRONLY))
    time.sleep(0.5)
    raise ValueError("5000 files were made")
