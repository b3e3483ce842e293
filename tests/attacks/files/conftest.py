"""Hand in a conftest.py that makes every test pass: graders that run pytest in the student's folder fell to it."""

import numpy as np

ATTACK = "conftest.py beside the module"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
FILES = {
    "conftest.py": "@PLANTED@\ndef pytest_runtest_call(item):\n    item.obj = bool\n",
    "tests/conftest.py": "@PLANTED@",
}


def double(x):
    return np.zeros_like(x)
