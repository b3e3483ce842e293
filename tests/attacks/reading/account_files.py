"""Read the machine's accounts and keys."""

import glob
import os

ATTACK = "/etc/shadow, home folders and keys"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "found 0 files"


def double(x):
    found = []
    home = os.path.expanduser("~root")
    for name in ("/etc/shadow", f"{home}/.bash_history", *glob.glob(f"{home}/.ssh/*"), *glob.glob("/home/*/.ssh/*")):
        if os.access(name, os.R_OK):
            found.append(name)
    raise RuntimeError(f"found {len(found)} files")
