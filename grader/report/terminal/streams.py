"""The standard streams of a command: made fit to write to before anything is written, and replaced where they fail."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO

from grader.errors import OutputError


def prepare() -> None:
    """Let no character that a stream cannot encode stop the output, nor a stream that was closed before the start."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, _stand_in(name))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _stand_in(name: str) -> TextIO:
    """Return a stream in place of a closed one: stdin is empty, stdout fails when it is written to, stderr is lost.

    It also takes the number of the closed one, which the next file to be opened would get otherwise.
    """
    flags = os.O_WRONLY if name == "stderr" else os.O_RDONLY
    return open(os.open(os.devnull, flags), "r" if name == "stdin" else "w", encoding="utf-8")


def unwritten(failure: OSError) -> OutputError:
    """Return what a stdout that failed is told as, with a stdout that takes all in its place."""
    sys.stdout = io.StringIO()  # Python would try again, and complain, at the end
    why = f"stdout cannot be written to: {failure.strerror}"
    return OutputError(why, "Send the output to a place that takes it.")
