"""How many gradings run at once: one a core, and more while those that run leave processors idle.

A submission that sleeps or hangs waits for its time to be used up and needs no processor meanwhile.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

WINDOW_SECONDS = 0.5  # over which processor use is measured
IDLE = 0.6  # of a core has to be idle before one more is let in
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


@dataclass(frozen=True)
class Used:
    """Processor seconds up to a moment: what these processes have used, and what no process of the machine has."""

    own: float
    idle: float


class Admission:
    """Lets `jobs` in at once, and more, up to `most`, one in each window, while cores are idle."""

    def __init__(
        self,
        jobs: int,
        most: int,
        used: Callable[[], Used | None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._jobs, self._most = jobs, most
        self._used = used or measured
        self._clock = clock
        self._changed = threading.Condition()
        self._inside = 0
        self._before: tuple[float, Used] | None = None  # the last measurement, and when that was

    def enter(self, stopped: threading.Event) -> bool:
        """Wait to be let in; False where everything is stopped before."""
        with self._changed:
            while not stopped.is_set():
                if self._inside < self._jobs or (self._inside < self._most and self._is_idle()):
                    self._inside += 1
                    self._before = None  # what was let in shows its use in the next window only
                    return True
                self._changed.wait(WINDOW_SECONDS / 2)
            return False

    def leave(self) -> None:
        """Make room for another."""
        with self._changed:
            self._inside -= 1
            self._changed.notify()

    def wake(self) -> None:
        """Let all that wait look whether everything is stopped."""
        with self._changed:
            self._changed.notify_all()

    def _is_idle(self) -> bool:
        now = self._clock()
        if self._before is not None and now - self._before[0] < WINDOW_SECONDS:
            return False
        if (used := self._used()) is None:
            return False
        before, self._before = self._before, (now, used)
        if before is None:
            return False
        seconds = now - before[0]
        own, idle = used.own - before[1].own, used.idle - before[1].idle
        return own <= (self._jobs - IDLE) * seconds and idle >= IDLE * seconds


def measured() -> Used | None:
    """Return what this process and those below it have used; None where the system does not tell."""
    own, idle = tree_seconds(os.getpid()), idle_seconds()
    return None if own is None or idle is None else Used(own, idle)


def idle_seconds(path: Path = Path("/proc/stat")) -> float | None:
    """Return for how many seconds, summed over its processors, the machine had nothing to do."""
    try:
        fields = path.read_bytes().partition(b"\n")[0].split()
        return (int(fields[4]) + int(fields[5])) / _TICKS  # nothing to do, and waiting for a disk
    except (OSError, ValueError, IndexError):
        return None


def tree_seconds(process: int, folder: Path = Path("/proc")) -> float | None:
    """Return the processor seconds that a process and all below it have used; None where the system does not tell."""
    rows: dict[int, tuple[int, int]] = {}
    with suppress(OSError):
        for entry in os.scandir(folder):
            if entry.name.isdigit() and (row := _row(folder / entry.name / "stat")) is not None:
                rows[int(entry.name)] = row
    return _sum(process, rows) / _TICKS if process in rows else None


def _row(path: Path) -> tuple[int, int] | None:
    """Return the parent of a process, and the ticks that it and the children that it waited for have used."""
    try:
        fields = path.read_bytes().rpartition(b")")[2].split()  # its name may hold anything
        return int(fields[1]), sum(map(int, fields[11:15]))
    except (OSError, ValueError, IndexError):  # it has ended
        return None


def _sum(process: int, rows: Mapping[int, tuple[int, int]]) -> int:
    children: dict[int, list[int]] = {}
    for each, (parent, _) in rows.items():
        children.setdefault(parent, []).append(each)
    total, queue = 0, [process]
    while queue:
        each = queue.pop()
        total += rows[each][1]
        queue += children.get(each, [])
    return total
