"""Read in the table of mounts, and in the map of memory, where the course lies on the host."""

ATTACK = "paths of the host in /proc/self/mountinfo and maps"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SAYS = "read 0 tables"


def double(x):
    told = []
    for name in ("mountinfo", "mounts", "mountstats", "maps", "smaps"):
        try:
            with open(f"/proc/self/{name}") as file:
                told.append(file.read())
        except OSError:
            pass
    raise RuntimeError(f"read {len(told)} tables")
