"""What the reference does while it answers: the lines that run, and the values that its names hold at the end."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Trace:
    """The lines of one source that ran; values holds, by the first line of a function, its names when it returned."""

    file: str
    lines: set[int] = field(default_factory=set)
    values: dict[int, dict[str, Any]] = field(default_factory=dict)

    def _line(self, frame: types.FrameType, event: str, _: Any) -> Callable[..., Any]:
        if event == "line":
            self.lines.add(frame.f_lineno)
        elif event == "return":
            self.values.setdefault(frame.f_code.co_firstlineno, {}).update(frame.f_locals)
        return self._line

    def _call(self, frame: types.FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        if frame.f_code.co_filename != self.file:
            return None
        self.lines.add(frame.f_lineno)
        return self._line

    @contextmanager
    def running(self) -> Iterator[None]:
        """Note what runs in this block."""
        before = sys.gettrace()
        sys.settrace(self._call)
        try:
            yield
        finally:
            sys.settrace(before)
