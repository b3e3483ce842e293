"""Planned questions, asked many at a time, and tests that run against the answers."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgpack
import numpy as np

from grader.protocol import codec
from grader.protocol.channel import Channel, ChannelClosed, DeadlinePassed, expect_size, joined
from grader.sandbox.connection import KEEP, NEXT_TEST, Connection, draw_id
from grader.sandbox.limits import CALLS_OF_TIME
from grader.sandbox.record import Name

MOST_OF_A_TEST = 1 << 20  # of one test's questions and answers; a test that carries more is not recorded
ID = slice(codec.HEADER.size + 2, codec.HEADER.size + 10)
BEGINS = bytes([0x96, 0xCF])  # a list of six, and first an id of eight bytes: a question, or an answer
RAISED, REPLY_AT = b"\xa5error", slice(10, 16)
_FRAMES, _SEEN = 6, 8  # where they stand in the form of an exception, which is a list


@dataclass(frozen=True)
class Step:
    """A frame that was sent, and the digest of the frame that came."""

    sent: bytes
    digest: bytes

    def given(self) -> list[Any]:
        """Return the values of a question that was sent, without those that it only names or has sent before."""
        decoder = _Given(lambda tag, fields, _: None)
        begins = codec.HEADER.size
        ends = begins + codec.HEADER.unpack(self.sent[:begins])[1]
        fields = decoder.message(self.sent[begins:ends], np.frombuffer(bytearray(self.sent[ends:]), np.uint8))
        return [decoder.decode(form) for form in fields[4:]]


class _Given(codec.Decoder):
    """Leaves out what a question refers to."""

    def decode(self, form: Any, depth: int = 0) -> Any:
        refers = type(form) is list and form[:1] in ([codec.REFERENCE], [codec.EARLIER])
        return None if refers else super().decode(form, depth)


class Recording:
    """Stands for the channel of one test and keeps the steps that go through it, up to a limit."""

    is_planned = True

    def __init__(self, channel: Channel) -> None:
        self.steps: list[Step] = []
        self._channel = channel
        self._frames: list[Frame] = []
        self._sent = b""
        self._left = MOST_OF_A_TEST

    @property
    def is_plannable(self) -> bool:
        """Whether there are steps, not too many, and each asks something."""
        return self._left >= 0 and bool(self.steps) and all(is_question(each.sent) for each in self.steps)

    def answers(self) -> Answers:
        """Return what came, for a test that runs once more."""
        return Answers(self.steps, [int.from_bytes(frame[2:10], "big") for frame, _ in self._frames], self._frames)

    def send(self, buffers: list[Any], deadline: float | None = None) -> None:
        self._sent = joined(buffers)
        self._left -= len(self._sent)
        self._channel.send([KEEP, self._sent], deadline)

    def receive(
        self, deadline: float | None = None, most: tuple[int, int] = (codec.MAX_BODY, codec.MAX_BLOB)
    ) -> tuple[memoryview, np.ndarray[Any, Any]]:
        body, blob = self._channel.receive(deadline, most)
        self._left -= len(body) + blob.size
        if self._left >= 0:
            self.steps.append(Step(with_id(self._sent), digest_of(codec.Decoder().message(body), blob)))
            self._frames.append((bytes(body), blob))
        return body, blob

    def pending(self) -> bool:
        return self._channel.pending()


def digest_of(fields: list[Any], blob: np.ndarray[Any, Any]) -> bytes:
    """Return what tells one answer, or one call of a function of the test's, from another: all but its id and time."""
    if len(fields) == 6:
        _, kind, notes, _, value, changes = fields
        fields = [kind, notes, _without_lines(value) if kind == "error" else value, changes]
    digest = hashlib.blake2b(msgpack.packb(fields, unicode_errors="surrogatepass"), digest_size=32)
    digest.update(blob.data)
    return digest.digest()


def digest_of_all(digests: Iterable[bytes]) -> bytes:
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


Frame = tuple[bytes, np.ndarray[Any, Any]]


@dataclass
class Answers:
    """What came to the questions of one test: the frames in their order, their digests, and the ids of the questions.

    strayed says that not all was asked: an answer was missing, or was another one than the next question follows from.
    """

    steps: Sequence[Step]
    ids: list[int] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    digests: list[bytes] = field(default_factory=list)
    seconds: float = 0.0
    strayed: bool = False

    @property
    def digest(self) -> bytes:
        return digest_of_all(self.digests)

    @property
    def may_suffice(self) -> bool:
        """Whether the test may end with what came: all was asked, or what was asked last raised an exception."""
        return not self.strayed or self.frames[-1][0][REPLY_AT] == RAISED

    @property
    def size(self) -> int:
        return sum(len(body) + blob.nbytes for body, blob in self.frames)


class Strayed(BaseException):
    """A test asks something else than was asked before."""


class RecordedChannel:
    """Stands for the channel of one test: each question is answered by what came to it, when it was asked before.

    strayed says that the test asked something else; from then on each further question raises Strayed.
    """

    is_planned = True

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._at = 0
        self.strayed = False

    @property
    def asked(self) -> int:
        return self._at

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
        body, blob = self._answers.frames[self._at - 1]
        expect_size(body, blob.nbytes, most)
        return memoryview(body), blob

    def pending(self) -> bool:
        """Say whether there is what nobody asked for: who asked the questions has looked."""
        return False

    def close(self) -> None:
        """Nothing is open."""


MOST_PASSING = 32  # digests of answers that are kept for a test


@dataclass
class PlannedTest:
    """The steps of one test with the reference, the names that it asks the module for, and answers that pass it.

    The first of its steps, as many as free says, hold nothing of an answer: the test asks them without any. Later ones
    name parts of the answers whose places, from 1 on, are in named. seconds is how long the reference took for its
    slowest answer. calls are the functions that it asks, and size how much it gives them. passing holds digests of all
    that came to the test from modules that passed it.
    """

    steps: tuple[Step, ...]
    names: dict[str, Name | None]
    free: int = 1
    named: tuple[int, ...] = ()
    seconds: float = 0.0
    calls: tuple[str, ...] = ()
    size: int = 0
    passing: set[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self._usual = digest_of_all(each.digest for each in self.steps)
        self.passing = {self._usual}

    def is_passed_by(self, digest: bytes | None, names: Mapping[str, Name]) -> bool:
        """Say whether a module with these names, whose answers have this digest, has passed, as another has."""
        return digest in self.passing and all(names.get(name) == found for name, found in self.names.items())

    def is_usual(self, digest: bytes) -> bool:
        return digest == self._usual

    def learn(self, digest: bytes) -> None:
        if len(self.passing) < MOST_PASSING:
            self.passing.add(digest)


Plan = dict[str, PlannedTest]  # by the test's name


AHEAD = 48 << 10  # bytes of questions under way, which any socket holds
MOST_BYTES = 48 << 20  # of answers that are kept at a time
SECONDS = 1.0  # for an answer: a function that takes longer is given its whole time when its test runs


class Batch:
    """The questions of some tests, for a process that has seen no test; is_over says that it answers no more.

    A question that may hold something of an answer is sent once the answers before it are those of the plan.
    """

    def __init__(self, connection: Connection, tests: Sequence[PlannedTest]) -> None:
        self.is_over = False
        self._connection = connection
        self._tests = tests
        self._answers = [Answers(test.steps) for test in tests]
        self._next = (0, 0)  # the test, and the step of it, to be sent next
        self._under_way: list[int] = []  # the bytes of each question that is sent and not answered
        self._seconds = min(SECONDS, connection.call_seconds)

    def asked(self) -> list[Answers]:
        size = 0
        for place, answers in enumerate(self._answers):
            try:
                self._ask(place, answers)
            except (ChannelClosed, DeadlinePassed, codec.Refused, codec.WireError, MemoryError):
                self.is_over = True
            if self.is_over:
                return self._answers[:place]
            size += answers.size
            if size > MOST_BYTES and place + 1 < len(self._answers):
                self.is_over = True
                return self._answers[: place + 1]
        self.is_over = self._connection.channel.pending()  # what nobody asked for
        return self._answers[:-1] if self.is_over else self._answers

    def _ask(self, place: int, answers: Answers) -> None:
        """Take the answers to the questions of one test, as long as the next question does not depend on others."""
        is_free = self._tests[place].free >= len(answers.steps)
        last = 0 if is_free else len(answers.steps) - 1  # that may depend on others
        for at, step in enumerate(answers.steps):
            started = time.monotonic()
            until = min(started + self._seconds, self._connection.ends_at)
            if answers.strayed and at >= len(answers.ids):
                return
            self._send(place, at, until)
            most = self._connection.bounds.size + len(step.sent)
            body, blob = self._connection.channel.receive(until, (most, most))
            fields = codec.Decoder().message(body)
            if len(fields) != 6 or fields[0] != answers.ids[at] or type(fields[3]) is not float:
                raise codec.WireError("no answer to the question")
            self._under_way.pop(0)
            answers.seconds += time.monotonic() - started
            if answers.seconds > CALLS_OF_TIME * self._connection.call_seconds:
                raise DeadlinePassed
            answers.frames.append((bytes(body), blob))
            answers.digests.append(digest_of(fields, blob))
            if at < last and not answers.strayed and answers.digests[-1] != step.digest:
                answers.strayed = True
                self._next = max(self._next, (place + 1, 0))

    def _send(self, place: int, step: int, deadline: float) -> None:
        """Send one question, unless that has been done, and while there is room later ones that are free."""
        pieces: list[bytes] = []
        is_enough = sum(self._under_way) > AHEAD // 2  # each message costs both ends a wake
        while self._next[0] < len(self._tests):
            test, at = self._next
            sent = self._tests[test].steps[at].sent
            is_early = self._next > (place, step)
            is_dependent = at >= self._tests[test].free
            if is_early and (is_dependent or is_enough or sum(self._under_way) + len(sent) > AHEAD):
                break
            number = draw_id()
            pieces += [NEXT_TEST] if at == 0 and test > 0 else []
            pieces += [KEEP] if at + 1 in self._tests[test].named else []
            pieces.append(with_id(sent, number))
            self._answers[test].ids.append(number)
            self._under_way.append(len(sent))
            self._next = (test, at + 1) if at + 1 < len(self._tests[test].steps) else (test + 1, 0)
        if pieces:
            self._connection.channel.send([b"".join(pieces)], deadline)
