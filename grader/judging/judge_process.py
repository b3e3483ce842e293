"""Judges as processes: forked, bounded, ended, with a worker that the process above starts for them."""

from __future__ import annotations

import faulthandler
import gc
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any, NoReturn, Protocol

from grader.errors import GraderFault, IsolationRefused
from grader.isolation.tiers import FORKS, LocalWorkerFactory, WorkerProcess
from grader.isolation.workers import Workers
from grader.judging import bounds
from grader.judging.task import (
    OVERTIME_SECONDS,
    Death,
    JudgeGone,
    JudgeOutOfMemory,
    Messages,
    SharedStatus,
    TimeIsUp,
    packed,
)
from grader.outcome import Status
from grader.worker import kernel

Body = Callable[[Messages, Workers], None]


def become_judge(body: Body, megabytes: int, messages: Messages, workers: Workers) -> NoReturn:
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


def tell_the_end(work: Callable[[], None], messages: Messages) -> None:
    """Do what a judge is for, and tell how that ended: "done", or what stood in the way."""
    try:
        work()
        messages.send("done")
    except (MemoryError, JudgeOutOfMemory):
        messages.send("swelled")
    except IsolationRefused as refused:
        messages.send("refused", refused.message, refused.hint)
    except JudgeGone:
        pass
    except Exception as error:
        messages.send("fault", f"{type(error).__name__}: {error}"[:1500])


class Judges(Protocol):
    """Judges that were started, one at a time: answers what one asks for while it runs, and says why one ended."""

    def answer(self, what: str, number: int = 0) -> None:
        """Do what the judge asked for; number is that of a worker."""

    def end(self) -> tuple[Status, str]:
        """End the judge; return the status and the reason that its end gives its test."""


class Forked:
    """Judges that are forks of this process, each with a worker that this process starts."""

    def __init__(self, keeper: WorkerKeeper) -> None:
        self._keeper = keeper
        self._process = 0
        self._messages: Messages | None = None

    def start(self, body: Body, megabytes: int) -> Messages:
        """Fork a process that runs a body within bounds; it gets the worker that was started, if one was."""
        started = self._keeper.first
        ours, theirs = socket.socketpair()
        self._process = os.fork()
        if self._process == 0:
            ours.close()
            messages = Messages(theirs)
            first = None if started is None else started.connection
            become_judge(body, megabytes, messages, SupervisorWorkers(messages, first))
        theirs.close()
        if started is not None:
            hand_over(started)
        self._messages = Messages(ours)
        return self._messages

    def answer(self, what: str, number: int = 0) -> None:
        assert self._messages is not None
        self._keeper.answer(what, self._messages.socket, number)

    def end(self) -> tuple[Status, str]:
        if self._messages is not None:
            self._messages.close()
        if not self._process:  # a signal to process 0 would reach the whole group
            self._keeper.end()
            return "crashed", "no process"
        with suppress(OSError):
            os.kill(self._process, signal.SIGKILL)
        _, status = os.waitpid(self._process, 0)
        self._process = 0
        self._keeper.end()
        if (bound := bounds.why_ended(status)) is not None:
            return "timed_out", bound
        return "crashed", f"signal {status & 0x7F}" if status & 0x7F else "an unexpected end"


Taken = tuple[Status, str] | None  # where a message ends the judge: the status and the reason of its test


def followed(
    judges: Judges,
    messages: Messages,
    shared: SharedStatus,
    memory_mb: int,
    until: Callable[[], float],
    take: Callable[[str, list[Any]], Taken],
) -> Death | None:
    """Answer what a judge asks for, have the rest taken, and end it; return how it died, None where it was done."""
    reason: Taken = None
    try:
        while reason is None:
            kind, fields = messages.receive(until())
            if kind == "done":
                return None
            if kind in ASKED:
                judges.answer(kind, *fields)
            elif kind == "swelled":
                reason = "over_limit", f"more than {memory_mb} MB of memory"
            elif kind == "refused":
                raise IsolationRefused(*fields)
            else:
                reason = take(kind, fields)
    except TimeIsUp:
        reason = "timed_out", "more time than the stage has"
    except JudgeGone:
        pass
    finally:
        said = judges.end()
    return Death(shared.read(), *(reason or said))


ANSWER_SECONDS = 60.0  # an answer waits for the end of a worker and all that it started, and for a new one's start
TEXT_BYTES = 4096
ASKED = ("start", "end", "excess", "own", "others")  # what a judge asks for
STARTED, REFUSED, SAID = b"W", b"R", b"S"


@dataclass
class LeasedWorker:
    """A worker that the other process started: its connection is here, its end is asked for."""

    connection: socket.socket
    workers: SupervisorWorkers

    def running(self) -> bool:
        """Say whether the worker's end of the connection is open."""
        poll = select.poll()
        poll.register(self.connection, 0)  # its end is told without being asked for
        return not poll.poll(0)

    def excess(self) -> str | None:
        return self.workers.ask("excess") or None

    def others(self) -> int:
        return int(self.workers.ask("others") or 0)

    def own(self) -> int:
        return int(self.workers.ask("own") or 0)

    def kill(self) -> None:
        self.connection.close()
        with suppress(IsolationRefused, JudgeGone):
            self.workers.ask("end")


class SupervisorWorkers:
    """Asks the process at the other end for one worker at a time; first is the connection of one that runs already.

    number is 0 for the one that loads the module to judge, else that of one beside it.
    """

    def __init__(self, messages: Messages, first: socket.socket | None = None, number: int = 0) -> None:
        self._messages = messages
        self._first = first
        self._number = number
        self._beside = 0

    def start(self) -> LeasedWorker:
        first, self._first = self._first, None
        return LeasedWorker(first if first is not None else self._started(), self)

    def beside(self) -> SupervisorWorkers:
        """Return what asks for one more worker, which runs beside the others."""
        self._beside += 1
        return SupervisorWorkers(self._messages, number=self._beside)

    def _started(self) -> socket.socket:
        self._messages.send("start", self._number)
        data, descriptors, _, _ = socket.recv_fds(self._waiting(), TEXT_BYTES, 1)
        if data[:1] == STARTED and descriptors:
            return socket.socket(fileno=descriptors[0])
        if data[:1] == REFUSED:
            message, _, hint = data[1:].decode("utf-8", "replace").partition("\n")
            raise IsolationRefused(message, hint or None)
        raise JudgeGone("no answer to a request for a worker")

    def ask(self, what: str) -> str:
        """Return the answer to a request that is not about a new worker."""
        self._messages.send(what, self._number)
        data = self._waiting().recv(TEXT_BYTES)
        if not data:
            raise JudgeGone("no answer to a request about a worker")
        return data[1:].decode("utf-8", "replace")

    def _waiting(self) -> socket.socket:
        self._messages.socket.settimeout(ANSWER_SECONDS)
        return self._messages.socket


class WorkerKeeper:
    """Keeps the workers of one grading, by the numbers that its judge gives them, and answers what the judge asks."""

    def __init__(self, own: LocalWorkerFactory) -> None:
        self._own = own
        self._workers: dict[int, WorkerProcess] = {}

    @property
    def first(self) -> WorkerProcess | None:
        """The worker that was started before there was a judge."""
        return self._workers.get(0)

    def start(self, number: int = 0) -> WorkerProcess:
        """Start a worker; the one that had its number before is ended."""
        self._end(number)
        self._workers[number] = started = self._own.start()
        return started

    def end(self) -> None:
        for number in list(self._workers):
            self._end(number)

    def _end(self, number: int) -> None:
        if (ended := self._workers.pop(number, None)) is not None:
            ended.kill()

    def answer(self, what: str, connection: socket.socket, number: int) -> None:
        """Do what a judge asks for and tell it; a judge that is gone needs no answer."""
        connection.settimeout(ANSWER_SECONDS)
        with suppress(OSError):
            if what == "start":
                self._answer_start(connection, number)
            else:
                connection.sendall(SAID + self._said(what, number).encode()[: TEXT_BYTES - 1])

    def _said(self, what: str, number: int) -> str:
        current = self._workers.get(number)
        if what == "end" or current is None:
            self._end(number)
            return ""
        if what == "excess":
            return current.excess() or ""
        return str(current.own() if what == "own" else current.others())

    def _answer_start(self, connection: socket.socket, number: int) -> None:
        try:
            started = self.start(number)
        except IsolationRefused as refused:
            said = f"{refused.message}\n{refused.hint or ''}".encode()
            connection.sendall(REFUSED + said[: TEXT_BYTES - 1])
            return
        socket.send_fds(connection, [STARTED], [started.connection.fileno()])
        hand_over(started)


def hand_over(started: WorkerProcess) -> None:
    """Leave a worker's connection to the judge that has it now, so that the worker notices the judge's end."""
    os.close(started.connection.detach())


Work = Callable[[Messages, Workers, SharedStatus], None]


@dataclass(frozen=True)
class Bounds:
    """MB of address space beyond what this process has, and seconds."""

    memory_mb: int
    seconds: float


@dataclass(frozen=True)
class Bounded:
    """What was told, each as (kind, fields…) in plain form; death where the end was not reached."""

    told: tuple[tuple[Any, ...], ...]
    death: Death | None = None


def bounded(work: Work, own: LocalWorkerFactory, most: Bounds) -> Bounded:
    """Have work done in a fork of this process, within bounds, and return what it told.

    Where nothing can be forked it is done here, with no bound of its memory. IsolationRefused where no worker starts.
    """
    shared = SharedStatus()
    told: list[tuple[Any, ...]] = []
    if not FORKS:
        kept: Any = SimpleNamespace(send=lambda kind, *fields: told.append((kind, *packed(fields))))
        work(kept, own, shared)
        return Bounded(tuple(told))

    def body(messages: Messages, workers: Workers) -> None:
        bounds.bound_time(bounds.TEST_SECONDS)
        tell_the_end(partial(work, messages, workers, shared), messages)

    def take(kind: str, fields: list[Any]) -> None:
        if kind == "fault":
            hint = "This is a fault of the grader, not of your code: please report it."
            raise GraderFault(f"the grader failed: {fields[0]}", hint)
        told.append((kind, *fields))

    keeper = WorkerKeeper(own)
    try:
        until = time.monotonic() + most.seconds + OVERTIME_SECONDS
        judges = Forked(keeper)
        messages = judges.start(body, most.memory_mb)
        death = followed(judges, messages, shared, most.memory_mb, lambda: until, take)
        return Bounded(tuple(told), death)
    finally:
        keeper.end()
