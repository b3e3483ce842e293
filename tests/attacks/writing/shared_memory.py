"""Leave a file in shared memory and in /tmp for a later run."""

import os

ATTACK = "files left in /dev/shm and /var/tmp"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SAYS = "wrote 0 files"


def double(x):
    written = []
    for folder in ("/dev/shm", "/var/tmp", "/run", "/dev/mqueue", "@COURSE@"):
        try:
            with open(f"{folder}/attack-@TOKEN_HINT@", "w") as file:
                file.write("1")
            written.append(folder)
            os.unlink(f"{folder}/attack-@TOKEN_HINT@")
        except OSError:
            pass
    raise RuntimeError(f"wrote {len(written)} files")
