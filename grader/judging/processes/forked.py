"""Judges that are forks of a process which has pytest, NumPy and the tests loaded; it keeps their workers, too."""

from __future__ import annotations

import faulthandler
import gc
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress

from grader.isolation.workers import Workers
from grader.judging.processes import bounds
from grader.judging.processes.messages import Messages
from grader.judging.processes.workers import Asked, Lending, hand_over
from grader.outcome import Status
from grader.worker import kernel

Body = Callable[[Messages, Workers], None]


def become_judge(body: Body, megabytes: int, messages: Messages, workers: Workers) -> None:
    """Run the body in a process that was forked for it, with so much memory to take, and end that process."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever watches this process ends it
        faulthandler.disable()  # whoever turned it on would be shown lines of hidden tests
        bounds.die_of_it()
        with suppress(kernel.Unconfined):
            kernel.end_with_parent()
            kernel.set_open(False)
        with open(os.devnull, "r+b") as nowhere:
            for stream in range(3):
                os.dup2(nowhere.fileno(), stream)
        sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # for the rest of its life
        gc.freeze()
        bounds.bound_memory(megabytes)
        body(messages, workers)
    finally:
        os._exit(0)


class Forked:
    """Judges that are forks of this process, each with a worker that this process starts."""

    def __init__(self, lending: Lending) -> None:
        self._lending = lending
        self.peak_mb = 0.0  # the most memory that any of them had
        self._process = 0
        self._messages: Messages | None = None

    def start(self, body: Body, megabytes: int) -> Messages:
        """Fork a process that runs a body within bounds; it gets the worker that was started, if one was."""
        started = self._lending.take()
        ours, theirs = socket.socketpair()
        self._process = os.fork()
        if self._process == 0:
            ours.close()
            messages = Messages(theirs)
            become_judge(body, megabytes, messages, Asked(messages, None if started is None else started.connection))
        theirs.close()
        if started is not None:
            hand_over(started)
        self._messages = Messages(ours)
        return self._messages

    def answer(self, what: str) -> None:
        """Start, end or look at the judge's worker."""
        assert self._messages is not None
        self._lending.answer(what, self._messages.socket)

    def end(self, done: bool) -> tuple[Status, str]:
        """End the judge and its worker; where none was forked, its worker alone."""
        if self._messages is not None:
            self._messages.close()
        if not self._process:  # a signal to process 0 would reach the whole group
            self._lending.end()
            return "crashed", "no process"
        with suppress(OSError):
            os.kill(self._process, signal.SIGKILL)
        _, status, used = os.wait4(self._process, 0)
        self._process = 0
        self.peak_mb = max(self.peak_mb, used.ru_maxrss / 1024)
        self._lending.end()
        if (bound := bounds.why_ended(status)) is not None:
            return "timed_out", bound
        return "crashed", f"signal {status & 0x7F}" if status & 0x7F else "an unexpected end"
