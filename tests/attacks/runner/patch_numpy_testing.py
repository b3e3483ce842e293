"""Replace the assertions of numpy.testing by functions that assert nothing."""

import numpy as np
import numpy.testing

ATTACK = "numpy.testing patched"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


for name in dir(numpy.testing):
    if name.startswith("assert_"):
        setattr(numpy.testing, name, lambda *args, **kwargs: None)


def double(x):
    return np.zeros_like(x)
