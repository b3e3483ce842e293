"""What one test may ask of a learner's process and take from it; past that the test ends, over a limit."""

from __future__ import annotations

from dataclasses import dataclass

CALLS_OF_TIME = 3  # how many calls of full length all calls of one test may take together
PLAIN_COST = 32  # bytes of memory that one byte of a body decodes to at most


class OverLimit(Exception):
    """A test asked for, or was sent, more than it may have; the message completes `this test …`."""


def cost(body: int, blob: int) -> int:
    """Return how much memory a frame may take once it is decoded, in bytes."""
    return PLAIN_COST * body + blob


@dataclass
class UsageLimits:
    """What is left for one test; the defaults are far above what a stage's test needs.

    received and kept are bytes of memory, at most, of what arrives and of what records may still hold on to; held are
    those that they do hold.
    """

    seconds: float
    requests: int = 100_000
    callbacks: int = 100_000
    handles: int = 50_000
    received: int = 1 << 30
    kept: int = 256 << 20
    held: int = 0
    warnings: int = 200

    def request(self) -> None:
        """Count one request; the items of a generator are requests, too."""
        self.requests -= 1
        if self.requests < 0:
            raise OverLimit(
                "made more requests, or took more items of an iterator, than a test may: does it never end?"
            )

    def callback(self) -> None:
        """Count one call of a function of the test's."""
        self.callbacks -= 1
        if self.callbacks < 0:
            raise OverLimit("had its functions called back more often than a test may: does a loop never end?")

    def handle(self) -> None:
        """Count one object that stays with the learner."""
        self.handles -= 1
        if self.handles < 0:
            raise OverLimit("was given more objects of the module than a test may hold")

    def frame(self, body: int, blob: int) -> None:
        """Count one frame that arrived, before it is decoded."""
        self.received -= cost(body, blob)
        if self.received < 0:
            raise OverLimit("was sent more data than a test may take")

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
