"""The answers to a test's questions that were asked before the test ran, and the channel that gives them to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grader.protocol import codec
from grader.protocol.channel import expect_size
from grader.remote.connection import draw_id
from grader.remote.questions import Step, digest_of_all, joined, with_id

Frame = tuple[bytes, np.ndarray[Any, Any]]


@dataclass
class Answers:
    """What came to the questions of one test: the frames in their order, their digests, and the ids of the questions.

    strayed says that the test has to ask as it runs: an answer was missing, or was another one than the next question
    follows from.
    """

    steps: Sequence[Step]
    ids: list[int] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    digests: list[bytes] = field(default_factory=list)
    seconds: float = 0.0
    strayed: bool = False

    @property
    def digest(self) -> bytes:
        """The digest of all that came."""
        return digest_of_all(self.digests)

    @property
    def size(self) -> int:
        """How many bytes came."""
        return sum(len(body) + blob.nbytes for body, blob in self.frames)


class Strayed(BaseException):
    """A test asks something else than was asked before."""


class RecordedChannel:
    """Stands for the channel of one test: each question is answered by what came to it, when it was asked before.

    strayed says that the test asked something else; from then on each further question raises Strayed.
    """

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._at = 0
        self.strayed = False

    def draw(self) -> int:
        """Return the id with which the next question was asked."""
        return self._answers.ids[self._at] if self._at < len(self._answers.ids) else draw_id()

    def send(self, buffers: list[Any], deadline: float | None = None) -> None:
        """Compare what the test sends with what was sent; Strayed where it is something else."""
        answers = self._answers
        is_known = not self.strayed and self._at < len(answers.frames)
        if not is_known or with_id(joined(buffers)) != answers.steps[self._at].sent:
            self.strayed = True
            raise Strayed
        self._at += 1

    def receive(
        self, deadline: float | None = None, most: tuple[int, int] = (codec.MAX_BODY, codec.MAX_BLOB)
    ) -> tuple[memoryview, np.ndarray[Any, Any]]:
        """Return the frame that came."""
        body, blob = self._answers.frames[self._at - 1]
        expect_size(body, blob.nbytes, most)
        return memoryview(body), blob

    def pending(self) -> bool:
        """Say whether there is what nobody asked for: who asked the questions has looked."""
        return False

    def close(self) -> None:
        """Nothing is open."""
