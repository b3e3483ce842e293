"""Judges that are forks of a process which has pytest, NumPy and the tests loaded; it keeps their workers, too."""

from __future__ import annotations

import os
import signal
import socket
from contextlib import suppress

from grader.judging import bounds
from grader.judging.judge import Charge, become_judge
from grader.judging.messages import Messages
from grader.judging.workers import Asked, Lending, hand_over
from grader.outcome import Status


class Forked:
    """Judges that are forks of this process, each with a worker that this process starts."""

    def __init__(self, lending: Lending) -> None:
        self._lending = lending
        self._first = True
        self._process = 0
        self._messages: Messages | None = None

    def begin(self, charge: Charge) -> Messages:
        """Fork a judge; the worker of the first one has been started already."""
        started = self._lending.current if self._first else self._lending.start()
        self._first = False
        ours, theirs = socket.socketpair()
        self._process = os.fork()
        if self._process == 0:
            ours.close()
            messages = Messages(theirs)
            become_judge(charge, messages, Asked(messages, started.connection))
        theirs.close()
        hand_over(started)
        self._messages = Messages(ours)
        return self._messages

    def answer(self, what: str) -> None:
        """Start, end or look at the judge's worker."""
        assert self._messages is not None
        self._lending.answer(what, self._messages.socket)

    def end(self, done: bool) -> tuple[Status, str]:
        """End the judge and its worker."""
        if self._messages is not None:
            self._messages.close()
        with suppress(OSError):
            os.kill(self._process, signal.SIGKILL)
        _, status = os.waitpid(self._process, 0)
        self._lending.end()
        if (bound := bounds.why_ended(status)) is not None:
            return "timed_out", bound
        return "crashed", f"signal {status & 0x7F}" if status & 0x7F else "an end before its time"
