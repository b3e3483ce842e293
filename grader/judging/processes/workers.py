"""Workers for a judge that was forked: the process that watches it starts and ends them, and passes connections on.

The judge asks, in one byte each, over the connection that its messages go through; the answers come back the other way.
"""

from __future__ import annotations

import os
import select
import socket
from contextlib import suppress
from dataclasses import dataclass

from grader.errors import IsolationRefused
from grader.isolation.tiers import Own, Started
from grader.judging.processes.messages import JudgeGone, Messages

ANSWER_SECONDS = 60.0  # an answer waits for the end of a worker and all that it started, and for a new one's start
TEXT_BYTES = 4096
ASKED = ("start", "end", "excess", "own", "others")  # what a judge asks for
STARTED, REFUSED, SAID = b"W", b"R", b"S"


@dataclass
class Lent:
    """A worker that the other process started: its connection is here, its end is asked for."""

    connection: socket.socket
    workers: Asked

    def running(self) -> bool:
        """Say whether the worker's end of the connection is open."""
        poll = select.poll()
        poll.register(self.connection, 0)  # its end is told without being asked for
        return not poll.poll(0)

    def excess(self) -> str | None:
        """Return which bound the worker went past, if that is why it ended."""
        return self.workers.ask("excess") or None

    def others(self) -> int:
        """Return how many tasks the kernel may count with those of this run, when it begins."""
        return int(self.workers.ask("others") or 0)

    def own(self) -> int:
        """Return how many tasks the run has."""
        return int(self.workers.ask("own") or 0)

    def kill(self) -> None:
        """Have the worker ended, with all that it started."""
        self.connection.close()
        with suppress(IsolationRefused, JudgeGone):
            self.workers.ask("end")


class Asked:
    """Asks the process at the other end for workers; first is the connection of one that runs already."""

    def __init__(self, messages: Messages, first: socket.socket | None) -> None:
        self._messages = messages
        self._first = first

    def start(self) -> Lent:
        """Return a worker; IsolationRefused where none can be started."""
        first, self._first = self._first, None
        return Lent(first if first is not None else self._started(), self)

    def _started(self) -> socket.socket:
        self._messages.send("start")
        data, descriptors, _, _ = socket.recv_fds(self._waiting(), TEXT_BYTES, 1)
        if data[:1] == STARTED and descriptors:
            return socket.socket(fileno=descriptors[0])
        if data[:1] == REFUSED:
            message, _, hint = data[1:].decode("utf-8", "replace").partition("\n")
            raise IsolationRefused(message, hint or None)
        raise JudgeGone("no answer to a request for a worker")

    def ask(self, what: str) -> str:
        """Return the answer to a request that is not about a new worker."""
        self._messages.send(what)
        data = self._waiting().recv(TEXT_BYTES)
        if not data:
            raise JudgeGone("no answer to a request about a worker")
        return data[1:].decode("utf-8", "replace")

    def _waiting(self) -> socket.socket:
        self._messages.socket.settimeout(ANSWER_SECONDS)
        return self._messages.socket


class Lending:
    """Keeps the worker of one grading and answers what its judge asks."""

    def __init__(self, own: Own) -> None:
        self._own = own
        self._current: Started | None = None
        self._open: Started | None = None  # the same, as long as no judge has it

    def take(self) -> Started | None:
        """Return the worker that nobody has yet; None where there is none, or a judge has it."""
        found, self._open = self._open, None
        return found

    def start(self) -> Started:
        """End the worker that runs, if any, and start another."""
        self.end()
        self._current = self._open = self._own.start()
        return self._current

    def end(self) -> None:
        """End the worker that runs, if any."""
        if self._current is not None:
            self._current.kill()
            self._current = self._open = None

    def answer(self, what: str, connection: socket.socket) -> None:
        """Do what a judge asks for and tell it; a judge that is gone needs no answer."""
        connection.settimeout(ANSWER_SECONDS)
        with suppress(OSError):
            if what == "start":
                self._answer_start(connection)
            else:
                connection.sendall(SAID + self._said(what).encode()[: TEXT_BYTES - 1])

    def _said(self, what: str) -> str:
        current = self._current
        if what == "end" or current is None:
            self.end()
            return ""
        if what == "excess":
            return current.excess() or ""
        return str(current.own() if what == "own" else current.others())

    def _answer_start(self, connection: socket.socket) -> None:
        try:
            self.start()
            started = self.take()
            assert started is not None
        except IsolationRefused as refused:
            said = f"{refused.message}\n{refused.hint or ''}".encode()
            connection.sendall(REFUSED + said[: TEXT_BYTES - 1])
            return
        socket.send_fds(connection, [STARTED], [started.connection.fileno()])
        hand_over(started)


def hand_over(started: Started) -> None:
    """Leave a worker's connection to the judge that has it now, so that the worker notices the judge's end."""
    os.close(started.connection.detach())
