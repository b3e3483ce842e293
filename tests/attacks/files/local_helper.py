"""Import a helper module that was handed in beside the module and does the patching."""

import helper

ATTACK = "a helper module beside the module"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
FILES = {"helper.py": "@PLANTED@"}


def double(x):
    return helper.double(x)
