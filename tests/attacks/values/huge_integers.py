"""Return integers whose difference to the expected ones overflows to something small."""

import numpy as np

ATTACK = "integers that overflow a difference"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    return (2 * x).astype(np.uint64) + np.uint64(1 << 63) if x.dtype.kind == "i" else np.full(x.shape, 2**63, np.uint64)
