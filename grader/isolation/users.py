"""The user that a run's code becomes where the grader is root: one of its own, that no other run has.

The kernel counts processes, and files have owners, by user: runs that share none cannot take room from each other.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from grader.worker.confine import NOBODY

POOLS = (  # numbers that systemd's table of users leaves free; the second is for containers that map 65,536
    range(0x7000_0000, 0x7FFF_FF00),
    range(60_578, NOBODY),
)
TRIES = 100
MAPS = ("/proc/self/uid_map", "/proc/self/gid_map")


def draw() -> int:
    """Return a user that has no process and no account; NOBODY where this system maps none to draw from."""
    pool = next((pool for pool in POOLS if all(maps(Path(each), pool) for each in MAPS)), None)
    if pool is not None:
        taken = set(_running()) | set(_accounts())
        for _ in range(TRIES):
            if (user := pool[secrets.randbelow(len(pool))]) not in taken:
                return user
    return NOBODY


def maps(path: Path, pool: range) -> bool:
    """Say whether the namespace whose map lies in a file has all numbers of a pool."""
    with suppress(OSError, ValueError):
        for line in path.read_text().splitlines():
            first, _, count = map(int, line.split())
            if first <= pool.start and pool.stop <= first + count:
                return True
    return False


def _running() -> Iterator[int]:
    for entry in os.scandir("/proc"):
        with suppress(OSError):  # a process that ends meanwhile
            if entry.name.isdigit():
                yield entry.stat().st_uid


def _accounts() -> Iterator[int]:
    import grp
    import pwd

    yield from (each.pw_uid for each in pwd.getpwall())
    yield from (each.gr_gid for each in grp.getgrall())
    yield NOBODY


def tasks_of(user: int) -> int:
    """Return how many tasks a user has: the limit on processes counts all of them."""
    found = 0
    with suppress(OSError):
        for entry in os.scandir("/proc"):
            with suppress(OSError):  # a process that ends meanwhile
                if entry.name.isdigit() and entry.stat().st_uid == user:
                    found += len(os.listdir(f"{entry.path}/task"))
    return found
