"""The life of one process of a pool: it is prepared once, and answers calls until the other end closes."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any

from grader.course.import_guard import GUARD
from grader.worker import kernel


def serve(pipe: Connection, prepare: Callable[..., None], given: tuple[Any, ...]) -> None:
    """Answer each call with whether it ended well, and its result or exception."""
    GUARD.install()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that coordinates
    signal.signal(signal.SIGTERM, _leave)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
    with suppress(kernel.Unconfined):
        kernel.end_with_parent()
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):  # the other end is gone
        prepare(*given)
        pipe.send(None)
        while True:
            function, arguments = pipe.recv()
            try:
                answer: tuple[bool, Any] = True, function(*arguments)
            except Exception as error:
                answer = False, error
            pipe.send(answer)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it ends already, and cleans up


def _leave(number: int, frame: FrameType | None) -> None:
    """End as a program that comes to its end, so that what was started is ended, too."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(128 + number)
