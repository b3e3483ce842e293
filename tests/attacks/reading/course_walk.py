"""Walk through the course's folders and show whatever is there."""

import os

ATTACK = "the course's folders listed"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SAYS = "found 0 files"


def double(x):
    found = [file for top in ("@COURSE@", "@ANSWERS@") for _, _, files in os.walk(top) for file in files]
    raise RuntimeError(f"found {len(found)} files {sorted(found)}")
