"""The lines that a call is at: answered to a signal, for a grader that has waited for the call in vain.

It is a learner's process's word, which its code can change: a message names the line, nothing is decided by it.
"""

from __future__ import annotations

import signal
from types import FrameType

from grader.protocol import codec
from grader.protocol.channel import Channel

ASKING: int = getattr(signal, "SIGUSR1", 0)  # Windows, which forks nothing, has no such signal
MOST_FRAMES = 200


def answer_where(channel: Channel, label: str) -> None:
    """Send, at each signal from now on, the lines of the module's calls that run since the first, outermost first."""
    running: list[FrameType] | None = None

    def told(number: int, frame: FrameType | None) -> None:
        nonlocal running
        now = _own(frame, label)
        if running is not None:
            pairs = zip(now, running, strict=False)
            now = now[: next((place for place, (one, other) in enumerate(pairs) if one is not other), len(running))]
        running = now  # held on to, so that no other frame takes the place of one that has ended
        lines = [each.f_lineno or 0 for each in now]
        channel.send(codec.Encoder().frame(["at", lines], []))

    if ASKING:
        signal.signal(ASKING, told)


def _own(frame: FrameType | None, label: str) -> list[FrameType]:
    """Return the module's frames, outermost first, at most MOST_FRAMES of them."""
    found: list[FrameType] = []
    while frame is not None:
        if frame.f_code.co_filename == label:
            found.append(frame)
        frame = frame.f_back
    return found[::-1][:MOST_FRAMES]
