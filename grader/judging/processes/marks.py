"""Which tests a second judge has seen pass, in memory that both judges of a grading share."""

from __future__ import annotations

import mmap
import struct

SECONDS = struct.Struct("<d")


class Marks:
    """The seconds of each test that passed in the other judge; they hold until one that does not pass is met.

    Then every test belongs to the first judge, since what explains a failure is held against all that it saw.
    """

    def __init__(self, count: int) -> None:
        self._memory = mmap.mmap(-1, SECONDS.size * count + 1)
        self._stop = SECONDS.size * count

    @property
    def stopped(self) -> bool:
        """Whether a test has not passed, in either judge."""
        return bool(self._memory[self._stop])

    def stop(self) -> None:
        """Let no mark hold any longer, and the second judge end."""
        self._memory[self._stop] = 1

    def passed(self, place: int, seconds: float) -> None:
        """Note that a test has passed, and how long it took."""
        SECONDS.pack_into(self._memory, SECONDS.size * place, max(seconds, 1e-9))  # 0 is no mark

    def seconds_of(self, place: int) -> float | None:
        """Return how long a test took that has passed over there; None where it is still to be run."""
        (seconds,) = SECONDS.unpack_from(self._memory, SECONDS.size * place)
        return None if self.stopped or seconds <= 0 else seconds
