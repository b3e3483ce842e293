"""Define names that the test's view of the module uses itself."""

import numpy as np

ATTACK = "module attributes named as the proxy's own"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
ALONE = True


_connection = _title = _number = None
__class__ = dict
__eq__ = __getattr__ = lambda *args: True
names = proxies = request = records = lambda *args: True


def double(x):
    return np.zeros_like(x)
