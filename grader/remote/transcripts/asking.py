"""Asks a module what a test asked that passed."""

from __future__ import annotations

import secrets

import numpy as np

from grader.protocol import codec
from grader.protocol.channel import Channel, ChannelClosed, DeadlinePassed
from grader.remote.transcripts.questions import SLACK, Differs, Passed, Question, likely
from grader.remote.transcripts.recording import digest_of, is_question, with_id

MOST_AHEAD = 1 << 15  # bytes under way at once: more than a socket holds would have both ends wait for each other
LONG_ID = 1 << 61  # ids of questions that are asked again all take as many bytes


class Strayed(Exception):
    """An answer leads to other questions than those that have been sent ahead; way is the one that it leads to."""

    def __init__(self, way: list[Question]) -> None:
        super().__init__(f"another way of {len(way)} questions")
        self.way = way


def asked_again(
    channel: Channel, way: list[Question], deadline: float, is_fresh: bool = True, ahead: int = 0
) -> Passed | Differs:
    """Ask what a test asked, as long as it is answered as it was in a test that passed.

    Questions are sent ahead along the way, as many as fit into so many bytes together with their answers. A process
    that is not fresh has been asked before, and has to be as it was before that: else the step that differs is below 0.
    Raises Strayed where the answers lead another way: then all can be asked again, in another process.
    """
    asking = _Asking(channel, list(way) if is_fresh else [_after_another(way[0]), *way], deadline, ahead)
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
        if step == len(asking.way) or follows is not asking.way[step]:
            raise Strayed([*asking.way[before:step], *likely(follows)])


class _Asking:
    """The questions of one test, on their way."""

    def __init__(self, channel: Channel, way: list[Question], deadline: float, ahead: int) -> None:
        self._channel = channel
        self._deadline = deadline
        self._ahead = ahead
        self._under_way = 0  # bytes of questions that are sent, and of answers that may be
        self._ids: list[int] = []  # by question that was sent; 0 for what a function of the test's gave
        self._waiting: list[int] = []  # ids of questions that are not answered yet
        self.way = way

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
        is_call = len(fields) == 5 and fields[1] == "callback"
        if not is_call and (
            len(fields) != 6 or not waiting or fields[0] != waiting.pop() or type(fields[3]) is not float
        ):
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


_NEXT = with_id(codec.Encoder().frame([LONG_ID, "again", 0, ""], [(), None])[0])
_DONE = digest_of([0, "ok", ["", []], 0.0, *map(codec.Encoder().encode, (True, []))], np.empty(0, np.uint8))
