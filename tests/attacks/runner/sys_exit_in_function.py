"""Raise SystemExit(0), which many runners let through as a clean end."""

import sys

ATTACK = "sys.exit(0) inside the function"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    sys.exit(0)
