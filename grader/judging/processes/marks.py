"""Which tests a second judge has seen pass, in memory that both judges of a grading share."""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass

MARK = struct.Struct("<dQ")  # seconds, 0 where there is no mark; functions that are involved, as bits


@dataclass(frozen=True)
class Mark:
    """What is known of a test that passed: the seconds that it took, and the functions that it involves, as bits."""

    seconds: float
    involved: int


class Marks:
    """A mark for each test that has passed in the second judge, and whether that one is to end."""

    def __init__(self, count: int) -> None:
        self._memory = mmap.mmap(-1, MARK.size * count + 1)
        self._stop = MARK.size * count

    @property
    def stopped(self) -> bool:
        """Whether the second judge is to end."""
        return bool(self._memory[self._stop])

    def stop(self) -> None:
        """Let the second judge end."""
        self._memory[self._stop] = 1

    def passed(self, place: int, mark: Mark) -> None:
        """Note that a test has passed."""
        MARK.pack_into(self._memory, MARK.size * place, max(mark.seconds, 1e-9), mark.involved)

    def of(self, place: int) -> Mark | None:
        """Return the mark of a test; None where it is still to be run."""
        found = Mark(*MARK.unpack_from(self._memory, MARK.size * place))
        return found if found.seconds > 0 else None
