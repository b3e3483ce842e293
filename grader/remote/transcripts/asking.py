"""Asks a module what a test asked that passed."""

from __future__ import annotations

import secrets

import numpy as np

from grader.protocol import codec
from grader.protocol.channel import Channel, ChannelClosed, DeadlinePassed
from grader.remote.transcripts.questions import SLACK, Differs, Passed, Question
from grader.remote.transcripts.recording import digest_of, is_question, with_id

MOST_AHEAD = 1 << 15  # bytes under way at once: more than a socket holds would have both ends wait for each other
LONG_ID = 1 << 61  # ids of questions that are asked again all take as many bytes


class Strayed(Exception):
    """An answer leads to other questions than those that have been sent ahead."""


def asked_again(
    channel: Channel, first: Question, deadline: float, is_fresh: bool = True, ahead: int = MOST_AHEAD
) -> Passed | Differs:
    """Ask what a test asked, as long as it is answered as it was in a test that passed.

    A process that is not fresh has been asked before, and is told that this is another test.

    Questions are sent ahead, as many as fit into so many bytes together with their answers, along the way that was gone
    first. Strayed where the answers lead another way: then they can be asked from the beginning, with nothing ahead.
    """
    asking = _Asking(channel, first if is_fresh else _after_another(first), deadline, ahead)
    step, before = 0, 0 if is_fresh else 1
    while True:
        question = asking.way[step]
        digest, late = b"", False
        try:
            digest = asking.answer(step)
        except (ChannelClosed, DeadlinePassed):
            late = True
        except (codec.Refused, codec.WireError):  # larger than any that is known, or no answer at all
            pass
        follows = question.follows.get(digest)
        if follows is None:
            return Differs(step - before, question.sent, question.label, digest, late)
        step += 1
        if step == len(asking.way) and isinstance(follows, Passed):
            return follows
        asking.turn(step, follows)


class _Asking:
    """The questions of one test, on their way."""

    def __init__(self, channel: Channel, first: Question, deadline: float, ahead: int) -> None:
        self._channel = channel
        self._deadline = deadline
        self._ahead = ahead
        self._under_way = 0  # bytes of questions that are sent, and of answers that may be
        self._ids: list[int] = []  # by question that was sent; 0 for what a function of the test's gave
        self._waiting: list[int] = []  # ids of questions that are not answered yet
        self.way = _likely(first)

    def turn(self, step: int, follows: Question | Passed) -> None:
        """Go on as an answer has it; Strayed where other questions have been sent already."""
        if step < len(self.way) and follows is self.way[step]:
            return
        if step < len(self._ids) or isinstance(follows, Passed):
            raise Strayed
        self.way[step:] = _likely(follows)

    def answer(self, step: int) -> bytes:
        """Send what is to be sent by now; return the digest of what came back to the question of one step."""
        self._send(step)
        question, number = self.way[step], self._ids[step]
        if number:
            self._waiting.append(number)
        body, blob = self._channel.receive(self._deadline, question.most)
        self._under_way -= question.weight
        fields = codec.Decoder().message(body)
        waiting = self._waiting
        if len(fields) == 6 and (not waiting or fields[0] != waiting.pop() or type(fields[3]) is not float):
            raise codec.WireError("an answer to another request")
        return digest_of(fields, blob)

    def _send(self, step: int) -> None:
        """Send the question of one step, if that has not been done, and more while there is room for them."""
        pieces = []
        for question in self.way[len(self._ids) :]:
            if len(self._ids) > step and self._under_way + question.weight > self._ahead:
                break
            number = secrets.randbits(61) | LONG_ID if is_question(question.sent) else 0
            self._ids.append(number)
            self._under_way += question.weight
            pieces.append(with_id(question.sent, number))
        if pieces:
            self._channel.send([b"".join(pieces)], self._deadline)


def _after_another(first: Question) -> Question:
    """Return the question that begins another test in a process, and then those of the test."""
    return Question(_NEXT, "", {_DONE: first}, (SLACK, 0))


def _likely(question: Question) -> list[Question]:
    """Return a question and those that followed, in the test that asked it first."""
    way = [question]
    while isinstance(follows := next(iter(way[-1].follows.values())), Question):
        way.append(follows)
    return way


_NEXT = with_id(codec.Encoder().frame([LONG_ID, "again", 0, ""], [(False,), None])[0])
_DONE = digest_of([0, "ok", ["", []], 0.0, *map(codec.Encoder().encode, (True, []))], np.empty(0, np.uint8))
