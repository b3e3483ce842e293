"""What a module's process sends that is no answer to the question says nothing of it."""

from __future__ import annotations

import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from grader.protocol import codec
from grader.protocol.channel import Channel
from grader.remote.transcripts.asking import asked_again
from grader.remote.transcripts.questions import Differs, Passed, Question
from grader.remote.transcripts.recording import Step, digest_of

END = Passed(("what it called",))


@pytest.fixture
def answering() -> Iterator[Callable[[Callable[[int], Any]], Channel]]:
    """Give the near end of a channel at whose far end each frame is answered by what a function makes of its id."""
    ends: list[socket.socket] = []
    threads: list[threading.Thread] = []

    def begin(made: Callable[[int], Any]) -> Channel:
        ours, theirs = socket.socketpair()
        ends.extend((ours, theirs))
        far = Channel(theirs)

        def answer() -> None:
            fields = codec.Decoder().message(*far.receive(time.monotonic() + 20))
            far.send(codec.Encoder().frame(made(fields[0]), [4, []]), time.monotonic() + 20)

        threads.append(threading.Thread(target=answer, daemon=True))
        threads[-1].start()
        return Channel(ours)

    yield begin
    for thread in threads:
        thread.join(20)
    for end in ends:
        end.close()


def one_question() -> Question:
    sent = codec.Encoder().frame([1 << 61, "call", 1, ""], [(2,), None])[0]
    digest = digest_of([0, "ok", ["", []], 0.0, 4, [codec.LIST]], np.empty(0, np.uint8))
    question = Question(sent, "double")
    question.add(iter(()), Step(sent, 100, 0, digest), END)
    return question


def test_an_answer_has_the_id_of_its_question(answering: Callable[..., Channel]) -> None:
    deadline = time.monotonic() + 20
    right = answering(lambda number: [number, "ok", ["", []], 0.25])
    assert asked_again(right, [one_question()], deadline) == END
    for wrong in (lambda n: [n + 1, "ok", ["", []], 0.0], lambda _: [secrets.randbits(61), "ok", ["", []], 0.0]):
        found = asked_again(answering(wrong), [one_question()], deadline)
        assert isinstance(found, Differs) and found.digest == b""


@pytest.mark.parametrize(
    "made",
    [
        lambda n: [n, "ok", ["", []], 1],
        lambda n: [n, "ok", ["printed", []], 0.0],
        lambda n: [n, "error", ["", []], 0.0],
        lambda n: [n, "ok", ["", []], 0.0, None],
        lambda n: [n, "callback", 0],
        lambda n: ["ok", ["", []]],
        lambda n: {},
        lambda n: [n] * 5000,
    ],
)
def test_answers_of_another_form_are_others(answering: Callable[..., Channel], made: Callable[[int], Any]) -> None:
    assert isinstance(asked_again(answering(made), [one_question()], time.monotonic() + 20), Differs)


RAISED = codec.Encoder().encode([["ValueError"], "ValueError", 0, "no", ["no"], [[3, "f"]], 0, [["x", [2, 3]]], None])


def told(form: Any) -> bytes:
    return digest_of([0, "error", ["", []], 0.0, form, [codec.LIST]], np.empty(0, np.uint8))


def test_lines_and_shapes_are_no_part_of_an_exception() -> None:
    assert told([*RAISED[:6], [0, [0, 7, "g"], [0, 8, "h"]], 0, [0], None]) == told(RAISED)
    assert told([*RAISED[:5], [0, "other"], *RAISED[6:]]) != told(RAISED)


@pytest.mark.parametrize(
    "form",
    [
        [*RAISED[:6], RAISED[7]],
        [*RAISED[:6], 7, *RAISED[7:]],
        [*RAISED[:6], "x", *RAISED[7:]],
        [*RAISED[:6], [0, "x"], *RAISED[7:]],
        [*RAISED[:8], *[None] * 40],
        RAISED[:8],
    ],
)
def test_a_form_that_a_test_would_refuse_is_not_taken_for_a_right_one(form: Any) -> None:
    assert told(form) != told(RAISED)
