"""Load the reference of a whole stage from the author's copy and let it answer."""

import runpy

ATTACK = "the reference of stage s15 run in place of one's own"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
STAGE = "s15"
ROW = "split-heads"
SAYS = "PermissionError|FileNotFoundError"


def split_heads(x, num_heads):
    return runpy.run_path("@AUTHORS@/hidden/s15_attention/solution.py")["split_heads"](x, num_heads)
