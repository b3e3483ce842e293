"""How many processes shared a core while something was graded, so that nobody loses marks to a crowded machine.

A stage's seconds are seconds of a machine that has a core for each grading. Where three processes share a core, an
honest module needs three times as long by the clock, and no more of the processor.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Self

EVERY_SECONDS = 0.25
RUNNING = Path("/proc/loadavg")


def running(path: Path = RUNNING) -> int | None:
    """Return how many processes and threads of the machine compute or wait for a core; None where it does not tell."""
    try:
        return int(path.read_text(encoding="ascii").split()[3].partition("/")[0])
    except (OSError, ValueError, IndexError):
        return None


class Crowding:
    """Looks at the machine as long as its block lasts."""

    def __init__(self, path: Path = RUNNING, cores: int | None = None) -> None:
        self._path = path
        self._cores = cores or os.cpu_count() or 1
        self._seen: list[int] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._over.set()
        self._thread.join()

    @property
    def of_a_core(self) -> float:
        """How many processes shared a core, on average; 1 where each had one of its own, or where nothing tells."""
        return max(1.0, sum(self._seen) / len(self._seen) / self._cores) if self._seen else 1.0

    def _look(self) -> None:
        while not self._over.wait(EVERY_SECONDS):
            if (now := running(self._path)) is not None:
                self._seen.append(now)
