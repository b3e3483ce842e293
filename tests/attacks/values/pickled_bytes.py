"""Return pickled bytes, an object array in .npy form, and hope that somebody loads them."""

import io
import os

import numpy as np

ATTACK = "bytes that are a pickle"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


class Payload:
    def __reduce__(self):
        return os.system, ("touch @COURSE@/taken",)


def double(x):
    file = io.BytesIO()
    np.save(file, np.array([Payload()], object), allow_pickle=True)
    return file.getvalue()
