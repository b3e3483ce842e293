"""The limits of one test on a learner's process; past one of them the test ends."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from grader.protocol.codec import Bounds

CALLS_OF_TIME = 3  # how many calls of full length all calls of one test may take together
PLAIN_COST = 32  # bytes of memory that one byte of a body decodes to at most
RECEIVED, KEPT = 32, 24  # how many results of full size a test may be sent, and its records hold on to
MOST_ITEMS = 2_000  # of iterators, of which a stage's test takes a tenth
MOST_RECEIVED, MOST_KEPT = 1 << 30, 512 << 20
FRAME_SECONDS = 1.0  # of processor time until the keys in one frame are told apart; most need a hundredth of it
STAGE_OVER = "the time that the whole stage may take was used up"
OVER = {  # what completes `this test …` where nothing is left
    "requests": "made more requests than a test may: does a loop never end?",
    "callbacks": "had its functions called back more often than a test may: does a loop never end?",
    "handles": "was given more objects of the module than a test may hold",
    "received": "was sent more data than a test may take",
    "reading": "was sent values that take longer to read than a test may spend on them",
}


class OverLimit(Exception):
    """A test asked for, or was sent, more than it may have."""


class Endless(OverLimit):
    """A test took more items of an iterator than any needs."""


def cost(body: int, blob: int) -> int:
    """Return how much memory a frame may take once it is decoded, in bytes."""
    return PLAIN_COST * body + blob


@dataclass
class UsageLimits:
    """What is left for one test; the defaults are far above what a stage's test needs.

    received and kept are bytes of memory, at most, of what arrives and of what records may still hold on to; held are
    those that they do hold; reading is processor time for making values of what arrives.
    """

    seconds: float
    requests: int = 100_000
    items: int = MOST_ITEMS
    callbacks: int = 100_000
    handles: int = 50_000
    received: int = MOST_RECEIVED
    kept: int = MOST_KEPT
    held: int = 0
    reading: float = 5.0
    warnings: int = 200

    def __post_init__(self) -> None:
        self._at_first = self.received, self.kept, self.reading

    def renew(self) -> None:
        """Allow as much to arrive, and to be held on to, as at first."""
        self.received, self.kept, self.reading = self._at_first
        self.held = 0

    @classmethod
    def of(cls, call_seconds: float, bounds: Bounds) -> UsageLimits:
        """Return what one test of a stage may take whose calls last so long and whose results are so large."""
        received, kept = min(RECEIVED * bounds.size, MOST_RECEIVED), min(KEPT * bounds.size, MOST_KEPT)
        return cls(CALLS_OF_TIME * call_seconds, received=received, kept=kept)

    def spend(self, what: str, amount: float = 1) -> None:
        left = getattr(self, what) - amount
        setattr(self, what, left)
        if left < 0:
            raise OverLimit(OVER[what])

    def item(self, giver: str) -> None:
        """Count one item of an iterator that a function gave."""
        self.items -= 1
        if self.items < 0:
            raise Endless(f"took {MOST_ITEMS:,} items of what {giver} gave, and there were more: does it never end?")

    def frame(self, body: int, blob: int) -> None:
        self.spend("received", cost(body, blob))

    def until(self) -> float:
        """Return the processor time of this thread at which one frame has to be read."""
        return time.thread_time() + min(FRAME_SECONDS, self.reading)

    def read(self, since: float) -> None:
        self.spend("reading", time.thread_time() - since)

    def keep(self, body: int, blob: int) -> bool:
        """Say whether a record may hold on to a copy of what one frame carried."""
        fits = cost(body, blob) <= self.kept
        if fits:
            self.kept -= cost(body, blob)
            self.held += cost(body, blob)
        return fits

    def warning(self) -> bool:
        """Say whether one more of the learner's warnings is passed on."""
        self.warnings -= 1
        return self.warnings >= 0


class Wait:
    """How long one request may take: its own seconds, what is left of its test's, and the end of the stage's.

    seconds_of may give a call less than call_seconds. Times are on the clock of time.monotonic().
    """

    def __init__(
        self, label: str, started: float, call_seconds: float, seconds_of: Callable[[str], float] | None,
        together: float, ends_at: float,
    ) -> None:  # fmt: skip
        self._label = label
        self._call_seconds = call_seconds
        self._seconds = call_seconds if seconds_of is None else min(call_seconds, seconds_of(label))
        self._ends_at = ends_at
        self.until = min(started + self._seconds, started + together, ends_at)
        self._is_together = self.until == started + together
        self.is_its_own = self.until == started + self._seconds  # not what other calls have left

    def told(self) -> str:
        """Return what is told where the time is over."""
        if self.until == self._ends_at:
            return f"{STAGE_OVER} while {self._label} ran"
        if self._is_together:
            return f"the calls of this test took more than {CALLS_OF_TIME * self._call_seconds:g} s together"
        again = "" if self._seconds == self._call_seconds else f", after {self._call_seconds:g} s in an earlier test"
        return f"{self._label} did not return within {self._seconds:g} s{again}"
