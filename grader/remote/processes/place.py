"""The loop that a call was in when its time was over, as its process tells it a few times in a row."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from grader.protocol import codec
from grader.protocol.channel import Channel, ChannelClosed, DeadlinePassed

TIMES = 5
ANSWER_SECONDS, PAUSE_SECONDS = 0.25, 0.01
MOST_ANSWER = 1 << 12  # bytes
MOST_LINES, MOST_LINE = 200, 1 << 20


def lines_of(channel: Channel, ask: Callable[[], None]) -> list[list[int]]:
    """Return the lines of the module's calls, outermost first, each time that it was asked; none where it is silent.

    A later answer has the lines of those calls only that ran at each time before.
    """
    found: list[list[int]] = []
    try:
        for _ in range(TIMES):
            ask()
            found.append(_lines(channel, time.monotonic() + ANSWER_SECONDS))
            time.sleep(PAUSE_SECONDS)
    except (OSError, ChannelClosed, DeadlinePassed, codec.Refused, codec.WireError):
        return []
    return found


def _lines(channel: Channel, deadline: float) -> list[int]:
    fields: list[Any] = codec.Decoder(bounds=codec.Bounds()).message(*channel.receive(deadline, (MOST_ANSWER, 0)))
    match fields:
        case ["at", list(lines)] if len(lines) <= MOST_LINES and all(map(_is_line, lines)):
            return lines
    raise codec.WireError("an answer of another form")


def _is_line(value: object) -> bool:
    return type(value) is int and 0 < value < MOST_LINE
