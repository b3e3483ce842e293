"""Show the environment, where tokens and paths of graders lie."""

import os

ATTACK = "environment variables"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    with open("/proc/self/environ", "rb") as file:
        raise RuntimeError(f"{len(os.environ)} variables {dict(os.environ)} {file.read()}")
