"""What tells one answer from another, and the channel that gives a test what was answered before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.protocol import codec
from grader.protocol.channel import joined
from grader.sandbox.connection import LONG_ID, Connection, RemoteModule
from grader.sandbox.record import Name
from grader.sandbox.recorded import Answers, RecordedChannel, Step, digest_of, with_id

RAISED = codec.Encoder().encode([["ValueError"], "ValueError", 0, "no", ["no"], [[3, "f"]], 0, [["x", [2, 3]]], None])
NAMES = {"double": Name("function", 7)}


def body(fields: list[Any]) -> list[Any]:
    """Return the fields of an answer as they arrive."""
    (frame,) = codec.Encoder().frame([LONG_ID | fields[0], *fields[1:]], [])
    return codec.Decoder().message(bytes(frame[codec.HEADER.size :]))


def digest(form: Any) -> bytes:
    return digest_of(body([0, "error", ["", []], 0.0, form, [codec.LIST]]), np.empty(0, np.uint8))


def test_lines_and_shapes_are_no_part_of_an_exception() -> None:
    assert digest([*RAISED[:6], [0, [0, 7, "g"], [0, 8, "h"]], 0, [0], None]) == digest(RAISED)
    assert digest([*RAISED[:5], [0, "other"], *RAISED[6:]]) != digest(RAISED)


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
    assert digest(form) != digest(RAISED)


@pytest.mark.parametrize(
    "fields",
    [
        [0, "ok", ["printed", []], 0.0, 4, [codec.LIST]],
        [0, "unsendable", ["", []], 0.0, 4, [codec.LIST]],
        [0, "ok", ["", []], 0.0, 4, [codec.LIST, [codec.TUPLE, 0, 1]]],
        [0, "ok", ["", []], 0.0, 4.0, [codec.LIST]],
    ],
)
def test_whatever_else_an_answer_says_is_a_part_of_it(fields: list[Any]) -> None:
    nothing = np.empty(0, np.uint8)
    right = digest_of(body([0, "ok", ["", []], 0.0, 4, [codec.LIST]]), nothing)
    assert digest_of(body(fields), nothing) != right
    assert digest_of(body([9, "ok", ["", []], 5.5, 4, [codec.LIST]]), nothing) == right  # but its id and its time
    assert digest_of(body([0, "ok", ["", []], 0.0, 4, [codec.LIST]]), np.zeros(8, np.uint8)) != right


def answered(value: int, argument: int = 2) -> Answers:
    """Return what came to double(argument)."""
    number = LONG_ID | 5
    sent = with_id(joined(codec.Encoder().frame([number, "call", 7, ""], [(argument,), None])))
    frame = joined(codec.Encoder().frame([number, "ok", ["", []], 0.25], [value, []]))
    body = frame[codec.HEADER.size :]
    return Answers((Step(sent, b""),), [number], [(body, np.empty(0, np.uint8))], [b"digest"])


def asking(answers: Answers) -> tuple[RecordedChannel, RemoteModule]:
    channel = RecordedChannel(answers)
    connection = Connection(channel, NAMES, 5.0, 1e12)  # type: ignore[arg-type]  # it stands for a channel
    return channel, RemoteModule(connection, "small.py")


def test_a_test_is_given_what_was_answered() -> None:
    channel, module = asking(answered(4))
    assert module.double(2) == 4 and not channel.strayed
    assert module.__dict__["_connection"].records[0].seconds == 0.25


def test_another_question_strays_and_so_does_each_after_it() -> None:
    channel, module = asking(answered(4))
    for argument in (3, 2):
        with pytest.raises(BaseException) as raised:
            module.double(argument)
        assert type(raised.value).__name__ == "Strayed" and not isinstance(raised.value, Exception)
    assert channel.strayed


def test_one_question_more_than_was_asked_strays() -> None:
    channel, module = asking(answered(4))
    assert module.double(2) == 4
    with pytest.raises(BaseException) as raised:
        module.double(2)
    assert type(raised.value).__name__ == "Strayed" and channel.strayed
