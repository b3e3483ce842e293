"""An end to what runs too long: changed functions, and right ones that are asked for more than there is time for."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SOON = 1e-6  # seconds: a block whose time is over ends at once


class TooLong(BaseException):
    """A changed function ran longer than any right one does; not an Exception, so that no replay takes it for one."""


def can_bound() -> bool:
    """Say whether what runs here can be interrupted."""
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Raise TooLong in a block that takes more processor time than that, or than is left of a block around it."""
    if not can_bound():
        yield
        return

    def stop(*_: object) -> None:
        raise TooLong

    outer, _ = signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    before = signal.signal(signal.SIGVTALRM, stop)
    given, unused = min(seconds, outer) if outer else seconds, 0.0
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, given)
        yield
    finally:
        try:
            unused, _ = signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        finally:  # the end may come in the line before
            signal.signal(signal.SIGVTALRM, before)
            if outer:
                signal.setitimer(signal.ITIMER_VIRTUAL, max(outer - (given - unused), SOON))
