"""Which tests a second judge has seen pass or fail, in memory that both judges of a grading share."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable
from dataclasses import dataclass

from grader.outcome import Status

MARK = struct.Struct("<dQ")  # seconds, 0 where there is no mark, or FAILED; functions that are involved, as bits
FAILED = -1.0
LONG = 0.2  # seconds of a test that is not run again
IN_ALL = 0.15  # seconds of those that are
LEAST = 6  # of these, however long they take
UNTOLD = 0  # what a test involves, where that takes longer to find than the test was asked about; few have to know


@dataclass(frozen=True)
class Mark:
    """What is known of a test that passed: the seconds that it took, and the functions that it involves, as bits."""

    seconds: float
    involved: int


class Marks:
    """A mark for each test that has passed in the second judge, and whether that one is to end.

    A test that failed there and passes here shows that the module answers now so, now otherwise: then no mark counts.
    """

    def __init__(self, count: int = 0) -> None:
        self._count = count
        self._memory = mmap.mmap(-1, MARK.size * count + 1)
        self._stop = MARK.size * count
        self._doubted = False

    @property
    def stopped(self) -> bool:
        """Whether the second judge is to end."""
        return bool(self._memory[self._stop])

    def stop(self) -> None:
        """Let the second judge end."""
        self._memory[self._stop] = 1

    def passed(self, place: int, mark: Mark) -> None:
        """Note that a test has passed."""
        self._note(place, max(mark.seconds, 1e-9), mark.involved)

    def failed(self, place: int) -> None:
        """Note that a test has failed, as it may where its answer is wrong."""
        self._note(place, FAILED, 0)

    def _note(self, place: int, seconds: float, involved: int) -> None:
        packed = MARK.pack(seconds, involved)
        start, half = MARK.size * place, MARK.size // 2
        self._memory[start + half : start + MARK.size] = packed[half:]
        self._memory[start : start + half] = packed[:half]  # last: with its seconds a mark is there

    def of(self, place: int) -> Mark | None:
        """Return the mark of a test; None where it is still to be run."""
        if place >= self._count or self._doubted:
            return None
        found = Mark(*MARK.unpack_from(self._memory, MARK.size * place))
        return found if found.seconds > 0 else None

    def is_open(self, place: int) -> bool:
        """Say whether a test is not known to have passed, nor to have failed in the second judge."""
        return bool(MARK.unpack_from(self._memory, MARK.size * place)[0] == 0)

    def doubt(self) -> None:
        """Let no mark count any more."""
        self._doubted = True

    def compare(self, place: int, status: Status) -> None:
        """Take in how a test ended here: no mark counts any more where it passed, and failed in the second judge."""
        if status == "passed" and place < self._count:
            self._doubted |= MARK.unpack_from(self._memory, MARK.size * place)[0] == FAILED

    def parted(
        self, places: list[int], is_needed: Callable[[int, int], bool]
    ) -> tuple[dict[int, Mark], dict[int, Mark], list[int]]:
        """Return the marks of tests that have passed, those of tests to be run again, and where there is no mark.

        What has passed is run again where is_needed says so, of a place and the bits of what the mark involves: the
        shortest tests, and nothing that takes long, such as training. A cause is not worth more.
        """
        marks = {place: mark for place in places if (mark := self.of(place)) is not None}
        again, seconds = dict[int, Mark](), 0.0
        for place, mark in sorted(marks.items(), key=lambda each: each[1].seconds):
            is_cheap = seconds + mark.seconds <= IN_ALL or len(again) < LEAST
            if is_cheap and mark.seconds <= LONG and is_needed(place, mark.involved):
                again[place] = mark
                seconds += mark.seconds
        passed = {place: mark for place, mark in marks.items() if place not in again}
        return passed, dict(sorted(again.items())), [place for place in places if place not in marks]
