"""This process: an end in order by signals, what is said after Ctrl-C, and blocks in which no garbage is looked for."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

STOPPED = 130  # as a shell says that SIGINT ended a command
ENDING = ("SIGTERM", "SIGHUP")  # the second where a terminal is closed; not on Windows
_received: list[int] = []  # those of these signals that came


def end_in_order() -> None:
    """Have these signals end this process by SystemExit, so that it takes its scratch folders and processes along.

    One that is ignored, as nohup has it, stays ignored. A fork of this process ends at once, as before.
    """
    owner = os.getpid()
    numbers = [getattr(signal, name) for name in ENDING if hasattr(signal, name)]
    numbers = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]

    def end(number: int, frame: object) -> None:
        for each in numbers:
            signal.signal(each, signal.SIG_IGN if os.getpid() == owner else signal.SIG_DFL)
        if os.getpid() != owner:
            os.kill(os.getpid(), number)
        _received.append(number)
        raise SystemExit(128 + number)

    for number in numbers:
        signal.signal(number, end)


def exit_code(code: int | str | None) -> int | str | None:
    """Return a command's exit code, or that of the signal that was to end it: Python drops what a finaliser raises."""
    return 128 + _received[0] if _received else code


def stopped(recorded: bool) -> int:
    """Say on stderr, in one line, that the command was stopped, and return its exit code.

    recorded says whether anything may stand in the progress file; another Ctrl-C no longer interrupts.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    graded = sys.argv[1:2] == ["check"]
    said = "stopped; nothing was recorded" if graded and not recorded else "stopped"
    with suppress(OSError, AttributeError, ValueError):  # a closed stderr
        begin = "\r\x1b[K" if sys.stderr.isatty() and os.environ.get("TERM") != "dumb" else ""  # over ^C
        sys.stderr.write(f"{begin}{said}\n")
        sys.stderr.flush()
    return STOPPED


@contextmanager
def uncollected(stays: bool = False) -> Iterator[None]:
    """Keep the collector of rings of objects still until the block ends, or the one around it.

    stays says that what is there at its end lasts as long as the process: the collector never looks at it again.
    """
    was_on = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if stays:
            gc.freeze()
        if was_on:
            gc.enable()
