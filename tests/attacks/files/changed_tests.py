"""Hand in public tests, a manifest and a hidden folder of one's own."""

import numpy as np

ATTACK = "own tests and an own stage.toml beside the module"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
FILES = {
    "tests/test_small.py": "def test_double():\n    pass\n",
    "stage.toml": "schema = 1\ncriteria = []\n",
    "solution.py": "@PLANTED@",
    "test_hidden.py": "",
    "mistakes.py": "@PLANTED@",
}


def double(x):
    return np.zeros_like(x)
