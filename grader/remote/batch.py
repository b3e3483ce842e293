"""Asks a learner's process the questions of many tests, one test after another, before the tests themselves run.

The first question of a test may be sent while the tests before it are still answered, so that neither end waits for the
other. A question that follows an answer of its own test is sent once all answers of the test so far are those that the
plan expects, to the byte: no question holds what the learner has not answered yet. Nothing that goes wrong here is told
of: a test without all its answers asks again as it runs.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from grader.protocol import codec
from grader.protocol.channel import ChannelClosed, DeadlinePassed
from grader.remote.connection import NEXT_TEST, Connection, draw_id
from grader.remote.questions import Step, digest_of, with_id
from grader.remote.recorded import Answers

AHEAD = 48 << 10  # bytes of questions under way, which any socket holds
MOST_BYTES = 48 << 20  # of answers that are kept at a time
SECONDS = 1.0  # for an answer: a function that takes longer is given its whole time when its test runs


class Batch:
    """The questions of some tests, for a process that has seen no test; is_over says that it answers no more."""

    def __init__(self, connection: Connection, tests: Sequence[Sequence[Step]]) -> None:
        self.is_over = False
        self._connection = connection
        self._tests = tests
        self._answers = [Answers(steps) for steps in tests]
        self._next = (0, 0)  # the test, and the step of it, to be sent next
        self._under_way: list[int] = []  # the bytes of each question that is sent and not answered
        self._seconds = min(SECONDS, connection.call_seconds)

    def asked(self) -> list[Answers]:
        """Return the answers of each test in turn, up to the last that has all of them, or to as many as are kept."""
        size = 0
        for place, answers in enumerate(self._answers):
            try:
                self._ask(place, answers)
            except (ChannelClosed, DeadlinePassed, codec.Refused, codec.WireError, MemoryError):
                self.is_over = True
            if self.is_over:
                return self._answers[:place]
            size += answers.size
            if size > MOST_BYTES:
                return self._answers[: place + 1]
        self.is_over = self._connection.channel.pending()  # what nobody asked for
        return self._answers[:-1] if self.is_over else self._answers

    def _ask(self, place: int, answers: Answers) -> None:
        """Take the answers to the questions of one test, as long as the next question follows from them."""
        for at, step in enumerate(answers.steps):
            started = time.monotonic()
            until = min(started + self._seconds, self._connection.ends_at)
            self._send(place, at, until)
            most = self._connection.bounds.size + len(step.sent)
            body, blob = self._connection.channel.receive(until, (most, most))
            fields = codec.Decoder().message(body)
            is_answer = len(fields) == 6 and fields[0] == answers.ids[at] and type(fields[3]) is float
            if not is_answer:  # but a call of a function of the test's, say
                raise codec.WireError("no answer to the question")
            self._under_way.pop(0)
            answers.seconds += time.monotonic() - started
            answers.frames.append((bytes(body), blob))
            answers.digests.append(digest_of(fields, blob))
            if answers.digests[-1] != step.digest and at + 1 < len(answers.steps):
                answers.strayed = True
                self._next = max(self._next, (place + 1, 0))
                return

    def _send(self, place: int, step: int, deadline: float) -> None:
        """Send one question, unless that has been done, and first questions of later tests while there is room."""
        pieces: list[bytes] = []
        while self._next[0] < len(self._tests):
            test, at = self._next
            sent = self._tests[test][at].sent
            is_early = self._next > (place, step)
            if is_early and (at > 0 or sum(self._under_way) + len(sent) > AHEAD):
                break
            number = draw_id()
            pieces += [NEXT_TEST] if at == 0 and test > 0 else []
            pieces.append(with_id(sent, number))
            self._answers[test].ids.append(number)
            self._under_way.append(len(sent))
            self._next = (test, at + 1) if at + 1 < len(self._tests[test]) else (test + 1, 0)
        if pieces:
            self._connection.channel.send([b"".join(pieces)], deadline)
