"""A test's process that is kept for the next test: asked at the one's end, heard at the other's beginning.

What it says is a learner's process's word. One that says so wrongly gets nothing by it: what it keeps from test to test
it could have kept in a file, what passes has to be right, and what fails is tried again in a process of its own.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass

from grader.protocol import codec
from grader.protocol.channel import Channel, ChannelClosed, DeadlinePassed
from grader.remote.connection import ID_BITS, Connection

MOST_ANSWER = 1 << 12  # bytes of an answer that says yes or no
MOST_TESTS = 32  # in one process, so that what one of them holds on to does not add up
REFUSALS = 3  # in a row, after which no process is asked to be there for another test
ANSWER_SECONDS = 0.5  # to say how a test left a process; one that takes longer is ended, and costs a fork


@dataclass
class Kept:
    """A process by its number, its channel, and how many tests it has seen."""

    number: int
    channel: Channel
    seen: int
    _serial: int = 0

    def ask(self, deadline: float) -> bool:
        """Ask whether the test left everything as it was, without waiting; say whether that could be asked."""
        self._serial = secrets.randbits(ID_BITS)
        try:
            self.channel.send(codec.Encoder().frame([self._serial, "again", 0, ""], [(), None]), deadline)
        except (ChannelClosed, DeadlinePassed):
            return False
        return True

    def is_as_before(self, deadline: float) -> bool:
        """Say whether it answered that it did; whatever else it answers, it is to be ended."""
        try:
            decoder = codec.Decoder(bounds=codec.Bounds())
            fields = decoder.message(*self.channel.receive(deadline, (MOST_ANSWER, 0)))
            heard = len(fields) == 6 and fields[:2] == [self._serial, "ok"] and decoder.decode(fields[4]) is True
            return heard and not self.channel.pending()
        except (ChannelClosed, DeadlinePassed, codec.Refused, codec.WireError):
            return False


class Keeper:
    """Keeps at most one process from one test to the next, and gives up where processes are never as they were."""

    def __init__(self) -> None:
        self._kept: Kept | None = None
        self._refused = 0

    def keep(self, connection: Connection, number: int) -> bool:
        """Keep the process of a test that has ended, and ask it how it was left; say whether it is kept."""
        kept = Kept(number, connection.channel, connection.tests_before + 1)
        if self._kept is None and connection.failure is None and kept.seen < MOST_TESTS and self._refused < REFUSALS:
            self._kept = kept if kept.ask(_soon(connection.ends_at)) else None
        return self._kept is kept

    def take(self, ends_at: float) -> tuple[Kept, bool] | None:
        """Return the process that is kept, if any, and whether the next test may run there; it is kept no longer."""
        kept, self._kept = self._kept, None
        if kept is None:
            return None
        is_as_before = kept.is_as_before(_soon(ends_at))
        self._refused = 0 if is_as_before else self._refused + 1
        return kept, is_as_before

    def drop(self) -> None:
        """Let go of the process; whoever ends all processes ends it, too."""
        if self._kept is not None:
            self._kept.channel.close()
            self._kept = None


def _soon(ends_at: float) -> float:
    return min(ends_at, time.monotonic() + ANSWER_SECONDS)
