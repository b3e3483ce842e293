"""The questions of a test that passed, and what followed from each answer that it went on from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from grader.remote.transcripts.recording import Step

Goes = TypeVar("Goes", "Question", "Passed")
NODE_BYTES = 500  # of memory, roughly, for a question beside its text
SLACK = 1 << 10  # bytes by which an answer may be longer than it was: the lines in which something was raised


@dataclass(frozen=True)
class Passed:
    """The end of a test that passed: the labels of what it called."""

    called: tuple[str, ...]


@dataclass(frozen=True)
class Differs:
    """An answer that is new: at which step, what was sent there and its label, and the answer's digest, if it was read.

    late says that none came.
    """

    step: int
    sent: bytes
    label: str
    digest: bytes
    late: bool


@dataclass
class Question:
    """What a test sends next, and by each answer that it went on from, what follows."""

    sent: bytes
    label: str
    follows: dict[bytes, Question | Passed] = field(default_factory=dict)
    most: tuple[int, int] = (0, 0)

    @property
    def weight(self) -> int:
        """How many bytes it and its answer take at most."""
        return len(self.sent) + sum(self.most)

    def add(self, steps: Iterator[tuple[Step, str]], step: Step, end: Passed) -> int:
        """Add what followed an answer, down to the end of the test; return how many bytes that takes."""
        question, taken = self, 0
        for following, label in steps:
            then = question.follows.get(step.digest)
            if then is None:
                then = question._goes_on(step, Question(following.sent, label))
                taken += len(following.sent) + NODE_BYTES
            if not isinstance(then, Question) or then.sent != following.sent:  # the test asks now so, now otherwise
                return taken
            question, step = then, following
        if step.digest not in question.follows:
            question._goes_on(step, end)
            taken += NODE_BYTES
        return taken

    def _goes_on(self, step: Step, following: Goes) -> Goes:
        self.most = max(self.most[0], step.size + SLACK), max(self.most[1], step.blob)
        self.follows[step.digest] = following
        return following


def likely(follows: Question | Passed) -> list[Question]:
    """Return the questions that followed, the way that was gone last."""
    way: list[Question] = []
    while isinstance(follows, Question):
        way.append(follows)
        follows = next(reversed(follows.follows.values()))
    return way
