"""Start programs that run as root."""

import subprocess

ATTACK = "programs with the set-user-id bit"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "refused|PermissionError|FileNotFoundError"


def double(x):
    done = subprocess.run(["su", "-c", "id"], capture_output=True, text=True, timeout=5)
    raise RuntimeError(f"uid=0 {done.stdout}" if "uid=0" in done.stdout else f"refused {done.returncode}")
