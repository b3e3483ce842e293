"""Counts the lines that a call runs in the learner's module; at the end of a budget it sends which lines those were.

Untrusted: the learner's code shares this process. What is sent names a line in a message, and decides no mark.
"""

from __future__ import annotations

import dis
import inspect
import os
import sys
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

from grader.protocol import codec
from grader.protocol.channel import Channel

GENERATORS = 20  # of those that went on in the second half, at most, are sent
CALLED_BACK = 500  # steps that a call of one of the test's functions counts for: on a busy machine it takes as long
RECENT = 1000  # steps within which a generator went on that has not come to its end


@lru_cache
def spins(code: CodeType) -> bool:
    """Say whether an instruction of a function jumps to itself, as `while True: pass` does: Python reports no line."""
    return any(each.opname.startswith("JUMP") and each.argval == each.offset for each in dis.get_instructions(code))


class Steps:
    """A budget of steps: lines of some modules, by what their files are called, and beginnings of their functions.

    Its second half is looked at: which call ran from the first half to the end, and in which lines.
    """

    def __init__(self, files: frozenset[str], budget: int, channel: Channel) -> None:
        self.files = files
        self.budget = budget
        self.half = budget // 2
        self.used = 0
        self.resumed: dict[int, Ran] = {}  # generators that went on in the second half
        self._channel = channel

    def begin(self) -> None:
        """Count from now on, in this thread."""
        sys.settrace(self._called)

    def _called(self, frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename not in self.files:
            return None
        ran: Ran | None = getattr(frame.f_trace, "__self__", None)  # a generator that goes on has its own
        if ran is None:
            ran = Ran(self, frame)
            frame.f_trace_opcodes = spins(frame.f_code)
        elif self.used > self.half and len(self.resumed) < GENERATORS:
            self.resumed[id(ran)] = ran
        self.count(frame, ran)
        return ran.event

    def called_back(self) -> None:
        """Count a call of one of the test's functions."""
        self.used += CALLED_BACK

    def count(self, frame: FrameType, ran: Ran) -> None:
        """Count one step; the last one ends this process."""
        self.used += 1
        if self.used > self.half:
            ran.at(frame.f_lineno)
            ran.last = self.used
            if self.used >= self.budget:
                self._end(frame)

    def _end(self, frame: FrameType | None) -> None:
        """Send the lines of the innermost call that ran through the second half, then those of generators."""
        found: list[Ran] = []
        while frame is not None:
            ran = getattr(frame.f_trace, "__self__", None)
            if isinstance(ran, Ran):
                ran.at(frame.f_lineno)
                if ran.began <= self.half and not ran.paused:
                    found.append(ran)
                    break
            frame = frame.f_back
        recent = self.used - RECENT
        found += [each for each in self.resumed.values() if each.began <= self.half and each.last >= recent]
        self._channel.send(codec.Encoder().frame(["steps", [each.sent() for each in found]], []))
        os._exit(0)


class Ran:
    """One call of a function of the module, or one generator: when it began, and its lines in the second half."""

    def __init__(self, steps: Steps, frame: FrameType) -> None:
        self.began = self.last = steps.used
        self.paused = False
        self._steps = steps
        self._first = frame.f_code.co_firstlineno
        self._is_expression = frame.f_code.co_name.startswith("<") and frame.f_code.co_name != "<module>"
        self._low, self._high = sys.maxsize, 0

    def at(self, line: int) -> None:
        """Note a line of the second half."""
        self._low, self._high = min(self._low, line), max(self._high, line)

    def event(self, frame: FrameType, event: str, _: Any) -> Any:
        """Count a line, or an instruction where those are asked for; note that a generator pauses."""
        if event in ("line", "opcode"):
            self._steps.count(frame, self)
        elif event == "return" and frame.f_code.co_flags & inspect.CO_GENERATOR:
            self.paused = self.paused or self._steps.used > self._steps.half
        return self.event

    def sent(self) -> list[Any]:
        """Return [the function's first line, whether it is an expression, first and last line of the second half]."""
        return [self._first, self._is_expression, self._low, self._high]
