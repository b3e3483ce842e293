"""Leave with exit code 0 while the module is imported, before any test: runners that count failures fell to it."""

import os

ATTACK = "os._exit(0) while the module is loaded"
OUTCOME = "not loaded"
TIERS = ("bubblewrap", "landlock", "process")


os._exit(0)
