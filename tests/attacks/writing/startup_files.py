"""Leave a sitecustomize.py, a .pth and a conftest.py where the next interpreter looks."""

import os
import sys

ATTACK = "start-up files left for the next interpreter"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SAYS = "wrote 0 files"


def double(x):
    written = []
    for folder in {*sys.path, os.path.dirname(os.__file__), "/usr/lib/python3/dist-packages", "@COURSE@", "@ANSWERS@"}:
        for name in ("sitecustomize.py", "attack.pth", "conftest.py"):
            try:
                with open(os.path.join(folder, name), "x") as file:
                    os.unlink(file.name)
                written.append(folder)
            except OSError:
                pass
    raise RuntimeError(f"wrote {len(written)} files")
