"""The user that a run's code becomes where the grader is root: one of its own, that no other run has.

The kernel counts processes, and files have owners, by user: runs that share none cannot take room from each other.
Where a container maps root alone, or keeps it from changing its user, a run stays the grader's user, without rights.
"""

from __future__ import annotations

import functools
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from grader.worker import kernel
from grader.worker.confine import NOBODY, become, no_more_processes

POOLS = (  # numbers that systemd's table of users leaves free; the second is for containers that map 65,536
    range(0x7000_0000, 0x7FFF_FF00),
    range(60_578, NOBODY),
)
TRIES = 100
MAPS = ("/proc/self/uid_map", "/proc/self/gid_map")
UNCHANGED = "root cannot become another user here, as in a container that maps one user alone"
REMEDY = (
    "Your own files can be checked so. Before you grade other people's files, start the grader as an ordinary user, "
    "or where more users than one are mapped (/proc/self/uid_map)."
)
UNCOUNTED = f"{UNCHANGED}, and the kernel does not limit root's processes: start the grader as an ordinary user"


def is_root() -> bool:
    """Say whether the grader runs as root, be it in name alone."""
    return hasattr(os, "getuid") and os.getuid() == 0


def can_change() -> bool:
    """Say whether a run's code can become another user: root can, unless a container or a service forbids it."""
    return is_root() and (sys.platform != "linux" or _can_become_nobody())


def is_counted() -> bool:
    """Say whether the kernel limits how many processes a run starts: it limits every user's but those of real root."""
    return not is_root() or can_change() or _is_limited()


def shortfall() -> str | None:
    """Return what a run as the grader's own user leaves open where that is root; None where it is not."""
    if not is_root() or can_change():
        return None
    said = f"{UNCHANGED}: the submission's code runs as the grader's own user"
    return said if is_counted() else f"{said}, and no limit on processes holds"


@functools.cache
def _can_become_nobody() -> bool:
    return kernel.managed(lambda: become(NOBODY, []))


@functools.cache
def _is_limited() -> bool:
    return kernel.managed(_be_refused_a_process)


def _be_refused_a_process() -> None:
    kernel.give_up_capabilities()
    no_more_processes()
    with suppress(BlockingIOError):
        if child := os.fork():
            os.waitpid(child, 0)
        raise kernel.Unconfined("a process could be started past the limit")


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
