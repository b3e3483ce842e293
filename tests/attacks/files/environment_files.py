"""Hand in files that tools read settings of the environment from."""

import numpy as np

ATTACK = ".env, .envrc and .python-version beside the module"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
FILES = {
    ".env": "PYTEST_ADDOPTS=--collect-only\n",
    ".envrc": "export PYTHONSTARTUP=x\n",
    ".python-version": "2.7\n",
    "uv.toml": "",
    ".git/config": "[core]\n    fsmonitor = touch @COURSE@/taken\n    hooksPath = .\n",
    "post-checkout": "#!/bin/sh\ntouch @COURSE@/taken\n",
}


def double(x):
    return np.zeros_like(x)
