"""Keeps what a test asks a learner's process and is answered.

What an answer says of its own time, and in which lines an exception was raised, is no part of it: a test that passes
does not depend on that.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import msgpack
import numpy as np

from grader.protocol import codec
from grader.protocol.channel import Channel

MOST_BYTES = 1 << 20  # of one test's questions and answers; of one that carries more nothing is kept
ID = slice(codec.HEADER.size + 2, codec.HEADER.size + 10)
BEGINS = bytes([0x96, 0xCF])  # a list of six, and first an id of eight bytes: a request, and not the answer to a call
_FRAMES, _SEEN = 6, 8  # where they stand in the form of an exception, which is a list


@dataclass(frozen=True)
class Step:
    """What was sent, without its id if it was a question, and what came back: its sizes and its digest."""

    sent: bytes
    size: int
    blob: int
    digest: bytes

    @property
    def is_question(self) -> bool:
        """Whether it was not what a function of the test's gave."""
        return is_question(self.sent)


class Recording:
    """Stands for the channel of one test and keeps what goes through it, up to a limit."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self._steps: list[Step] = []
        self._sent = b""
        self._left = MOST_BYTES

    @property
    def steps(self) -> list[Step] | None:
        """All of it; None where that was too much."""
        return self._steps if self._left >= 0 else None

    def send(self, buffers: list[Any], deadline: float | None = None) -> None:
        """Send a frame, and keep it."""
        self._left -= sum(len(part) if isinstance(part, bytes) else part.nbytes for part in buffers)
        if self._left >= 0:
            joined = b"".join([part if isinstance(part, bytes) else part.tobytes() for part in buffers])
            self._sent = with_id(joined)
        self.channel.send(buffers, deadline)

    def receive(
        self, deadline: float | None = None, most: tuple[int, int] = (codec.MAX_BODY, codec.MAX_BLOB)
    ) -> tuple[memoryview, np.ndarray[Any, Any]]:
        """Return a frame that arrived, and keep what tells it from others."""
        body, blob = self.channel.receive(deadline, most)
        self._left -= len(body) + blob.size
        if self._left >= 0:
            try:
                digest = digest_of(codec.Decoder().message(body), blob)
            except codec.WireError:  # whoever reads it says so
                self._left = -1
            else:
                self._steps.append(Step(self._sent, len(body), blob.size, digest))
        return body, blob

    def pending(self) -> bool:
        return self.channel.pending()

    def close(self) -> None:
        self.channel.close()


def digest_of(fields: list[Any], blob: np.ndarray[Any, Any]) -> bytes:
    """Return what tells one answer, or one call of a function of the test's, from another."""
    if len(fields) == 6:
        _, kind, notes, _, value, changes = fields
        fields = [kind, notes, _told(value) if kind == "error" else value, changes]
    digest = hashlib.blake2b(msgpack.packb(fields, unicode_errors="surrogatepass"), digest_size=32)
    digest.update(blob.data)
    return digest.digest()


def _told(form: Any) -> Any:
    """Return the form of an exception without the lines that raised it and the shapes that were at hand there.

    Of one that is no exception's, or that a test would refuse, nothing is left out.
    """
    if type(form) is not list or not _FRAMES + 1 < len(form) <= _SEEN + 2 or not _is_frames(form[_FRAMES]):
        return form
    return [*(None if place in (_FRAMES, _SEEN) else each for place, each in enumerate(form))]


def _is_frames(form: Any) -> bool:
    """Say whether a form is that of a list of lines, each with its function."""
    if type(form) is not list or form[:1] != [codec.LIST]:
        return False
    return all(type(each) is list and [type(part) for part in each] == [int, int, str] for each in form[1:])


def with_id(sent: bytes, number: int = 0) -> bytes:
    """Return a frame with another id, if it is a question."""
    return sent[: ID.start] + number.to_bytes(8, "big") + sent[ID.stop :] if is_question(sent) else sent


def is_question(sent: bytes) -> bool:
    """Say whether a frame asks something, and does not give what a function of the test's returned."""
    return sent[codec.HEADER.size : ID.start] == BEGINS
