"""Keep inputs in a file and in module state, to answer from them when they come again."""

import os

import numpy as np

ATTACK = "answers kept from test to test"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


SEEN = {}


def double(x):
    SEEN[x.tobytes()] = 2 * x
    name = "answers-@TOKEN_HINT@"
    if os.path.exists(name):
        with open(name, "rb") as file:
            return np.frombuffer(file.read()).reshape(x.shape)
    with open(name, "wb") as file:
        file.write(np.zeros_like(x).tobytes())
    return np.zeros_like(x)
