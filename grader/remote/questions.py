"""What a test asks a learner's process and what comes back, step by step, and its digest.

A step is a frame that is sent (a question, or what a function of the test's gave to the learner's code) and the frame
that answers it. A question's id is drawn each time, so that it is no part of a step. Neither is what an answer says of
its own time, nor the lines in which an exception was raised: a test's end does not depend on them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgpack
import numpy as np

from grader.protocol import codec
from grader.protocol.channel import Channel

MOST_BYTES = 1 << 20  # of one test's questions and answers; a test that carries more is not recorded
ID = slice(codec.HEADER.size + 2, codec.HEADER.size + 10)
BEGINS = bytes([0x96, 0xCF])  # a list of six, and first an id of eight bytes: a question
_FRAMES, _SEEN = 6, 8  # where they stand in the form of an exception, which is a list


@dataclass(frozen=True)
class Step:
    """A frame that was sent, with the label of its call if it is a question, and the digest of the frame that came."""

    sent: bytes
    label: str
    digest: bytes

    @property
    def is_question(self) -> bool:
        """Whether it is not what a function of the test's gave."""
        return is_question(self.sent)


class Recording:
    """Stands for the channel of one test and keeps the steps that go through it, up to a limit."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._steps: list[tuple[bytes, bytes]] = []
        self._sent = b""
        self._left = MOST_BYTES

    def steps(self, labels: Iterable[str]) -> tuple[Step, ...] | None:
        """Return all steps, given the labels of the questions in their order; None where that was too much."""
        each = iter(labels)
        found = [Step(sent, next(each, "") if is_question(sent) else "", digest) for sent, digest in self._steps]
        return tuple(found) if self._left >= 0 else None

    def send(self, buffers: list[Any], deadline: float | None = None) -> None:
        """Send a frame, and keep it."""
        self._sent = joined(buffers)
        self._left -= len(self._sent)
        self._channel.send(buffers, deadline)

    def receive(
        self, deadline: float | None = None, most: tuple[int, int] = (codec.MAX_BODY, codec.MAX_BLOB)
    ) -> tuple[memoryview, np.ndarray[Any, Any]]:
        """Return a frame that arrived, and keep its digest."""
        body, blob = self._channel.receive(deadline, most)
        self._left -= len(body) + blob.size
        if self._left >= 0:
            self._steps.append((with_id(self._sent), digest_of(codec.Decoder().message(body), blob)))
        return body, blob

    def pending(self) -> bool:
        return self._channel.pending()


def joined(buffers: Iterable[Any]) -> bytes:
    """Return the bytes of a frame."""
    return b"".join([part if isinstance(part, bytes) else part.tobytes() for part in buffers])


def digest_of(fields: list[Any], blob: np.ndarray[Any, Any]) -> bytes:
    """Return what tells one answer, or one call of a function of the test's, from another."""
    if len(fields) == 6:
        _, kind, notes, _, value, changes = fields
        fields = [kind, notes, _without_lines(value) if kind == "error" else value, changes]
    digest = hashlib.blake2b(msgpack.packb(fields, unicode_errors="surrogatepass"), digest_size=32)
    digest.update(blob.data)
    return digest.digest()


def digest_of_all(digests: Iterable[bytes]) -> bytes:
    """Return the digest of all that came in one test."""
    return hashlib.blake2b(b"".join(digests), digest_size=32).digest()


def _without_lines(form: Any) -> Any:
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
