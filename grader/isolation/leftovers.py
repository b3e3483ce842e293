"""Remove a run's files from folders that everybody may write to: as their owner, a user that no other run has.

The walk is bounded, follows no link and stays on one file system. A file goes only if that user owns it and it changed
since the run began, which nobody can turn back; so a number that somebody had long ago costs them nothing.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run/lock")
SECONDS = 5.0
DEPTH = 8  # of folders within folders that everybody may write to
OPEN_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
SYSTEM_V = Path("/proc/sysvipc")
REMOVE = 0  # IPC_RMID


@dataclass(frozen=True)
class Owner:
    """Whose files go: those of a user that changed after a time, until the walk has to end."""

    user: int
    since: int  # nanoseconds
    until: float

    def has(self, found: os.stat_result) -> bool:
        """Say whether a file is one of those."""
        return found.st_uid == self.user and found.st_ctime_ns >= self.since

    @property
    def may_go_on(self) -> bool:
        return time.monotonic() < self.until


def remove(user: int, since: int, places: tuple[str, ...] = PLACES) -> None:
    """Remove what a user made since a time, in nanoseconds: what lies in some places, and System V's objects."""
    owner = Owner(user, since, time.monotonic() + SECONDS)
    for place in places:
        with suppress(OSError), _opened(place) as folder:
            _clear(folder, owner)
    _remove_system_v(user)


@contextlib.contextmanager
def _opened(name: str, above: int | None = None) -> Iterator[int]:
    folder = os.open(name, OPEN_FOLDER, dir_fd=above)
    try:
        yield folder
    finally:
        os.close(folder)


def _clear(place: int, owner: Owner, depth: int = DEPTH) -> None:
    """Remove what an owner has in a place and in those folders of others below it that everybody may write to."""
    disk = os.fstat(place).st_dev
    for entry, found in _entries(place):
        if not owner.may_go_on:
            return
        with suppress(OSError):
            if owner.has(found):
                _remove(place, entry, found, owner)
            elif depth and stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_IWOTH and found.st_dev == disk:
                with _opened(entry, place) as folder:
                    _clear(folder, owner, depth - 1)


def _entries(folder: int) -> list[tuple[str, os.stat_result]]:
    found = []
    for name in os.listdir(folder):
        with suppress(OSError):
            found.append((name, os.stat(name, dir_fd=folder, follow_symlinks=False)))
    return found


def _remove(place: int, name: str, found: os.stat_result, owner: Owner) -> None:
    """Remove a file, or a folder with what its owner has in it; folders within are moved up, so that depth is free."""
    if not stat.S_ISDIR(found.st_mode):
        os.unlink(name, dir_fd=place)
        return
    waiting = [name]
    while waiting and owner.may_go_on:
        folder_name = waiting.pop()
        with suppress(OSError), _opened(folder_name, place) as folder:
            for entry, inside in _entries(folder):
                if not owner.has(inside):
                    continue
                if stat.S_ISDIR(inside.st_mode):
                    waiting.append(f".{secrets.token_hex(16)}")
                    os.rename(entry, waiting[-1], src_dir_fd=folder, dst_dir_fd=place)
                else:
                    os.unlink(entry, dir_fd=folder)
        with suppress(OSError):
            os.rmdir(folder_name, dir_fd=place)


def _remove_system_v(user: int) -> None:
    """Remove shared memory, semaphores and queues that outlive the processes of a user."""
    for kind, number in (("shm", "shmid"), ("sem", "semid"), ("msg", "msqid")):
        with suppress(OSError, ValueError, AttributeError):
            names, *rows = (line.split() for line in (SYSTEM_V / kind).read_text().splitlines())
            for row in (dict(zip(names, map(int, each), strict=False)) for each in rows):
                if row["uid"] == row["cuid"] == user:
                    _control(kind, row[number])


def _control(kind: str, number: int) -> None:
    libc: Any = ctypes.CDLL(None)
    if kind == "sem":
        libc.semctl(number, 0, REMOVE)
    else:
        getattr(libc, f"{kind}ctl")(number, REMOVE, None)
