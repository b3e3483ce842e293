"""Raise SystemExit(0) while the module is imported: a runner that imports it in its own process ends with success."""

import sys

ATTACK = "sys.exit(0) while the module is loaded"
OUTCOME = "not loaded"
TIERS = ("bubblewrap", "landlock", "process")


sys.exit(0)
