"""Which functions of a file run while something is done."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def traced(what: Callable[[], T], file: str) -> tuple[T, set[str]]:
    """Return what came of it, and the full names of the functions of a file, as Class.method, that were entered."""
    ran: set[str] = set()
    before = sys.getprofile()

    def entered(frame: types.FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename == file:
            ran.add(frame.f_code.co_qualname)

    sys.setprofile(entered)
    try:
        return what(), ran
    finally:
        sys.setprofile(before)
