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
from typing import Any

from grader.errors import GraderFault, IsolationRefused
from grader.isolation.tiers import FORKS, LocalWorkerFactory, WorkerProcess
from grader.isolation.workers import Workers
from grader.judging import bounds
from grader.judging.task import OVERTIME_SECONDS, Death, JudgeGone, JudgeOutOfMemory, Messages, SharedStatus, TimeIsUp
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

    def __init__(self, lending: WorkerKeeper) -> None:
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
            become_judge(
                body, megabytes, messages, SupervisorWorkers(messages, None if started is None else started.connection)
            )
        theirs.close()
        if started is not None:
            hand_over(started)
        self._messages = Messages(ours)
        return self._messages

    def answer(self, what: str, number: int = 0) -> None:
        """Start, end or look at a worker of the judge's."""
        assert self._messages is not None
        self._lending.answer(what, self._messages.socket, number)

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


ANSWER_SECONDS = 60.0  # an answer waits for the end of a worker and all that it started, and for a new one's start
TEXT_BYTES = 4096
ASKED = ("start", "beside", "end", "excess", "own", "others")  # what a judge asks for
STARTED, REFUSED, SAID = b"W", b"R", b"S"


@dataclass
class LeasedWorker:
    """A worker that the other process started: its connection is here, its end is asked for.

    number is 0 for the one that loads the module to judge, else that of one beside it.
    """

    connection: socket.socket
    workers: SupervisorWorkers
    number: int = 0

    def running(self) -> bool:
        """Say whether the worker's end of the connection is open."""
        poll = select.poll()
        poll.register(self.connection, 0)  # its end is told without being asked for
        return not poll.poll(0)

    def excess(self) -> str | None:
        """Return which bound the worker went past, if that is why it ended."""
        return self.workers.ask("excess", self.number) or None

    def others(self) -> int:
        """Return how many tasks the kernel may count with those of this run, when it begins."""
        return int(self.workers.ask("others", self.number) or 0)

    def own(self) -> int:
        """Return how many tasks the run has."""
        return int(self.workers.ask("own", self.number) or 0)

    def kill(self) -> None:
        """Have the worker ended, with all that it started."""
        self.connection.close()
        with suppress(IsolationRefused, JudgeGone):
            self.workers.ask("end", self.number)


class SupervisorWorkers:
    """Asks the process at the other end for workers; first is the connection of one that runs already."""

    def __init__(self, messages: Messages, first: socket.socket | None) -> None:
        self._messages = messages
        self._first = first
        self._beside = 0  # workers that were started beside the first

    def start(self) -> LeasedWorker:
        """Return a worker; IsolationRefused where none can be started."""
        first, self._first = self._first, None
        return LeasedWorker(first if first is not None else self._started(), self)

    def beside(self) -> LeasedWorker:
        """Return one more worker, beside the one that `start` gave; IsolationRefused where none can be started."""
        self._beside += 1
        return LeasedWorker(self._started("beside", self._beside), self, self._beside)

    def _started(self, what: str = "start", number: int = 0) -> socket.socket:
        self._messages.send(what, number)
        data, descriptors, _, _ = socket.recv_fds(self._waiting(), TEXT_BYTES, 1)
        if data[:1] == STARTED and descriptors:
            return socket.socket(fileno=descriptors[0])
        if data[:1] == REFUSED:
            message, _, hint = data[1:].decode("utf-8", "replace").partition("\n")
            raise IsolationRefused(message, hint or None)
        raise JudgeGone("no answer to a request for a worker")

    def ask(self, what: str, number: int = 0) -> str:
        """Return the answer to a request that is not about a new worker."""
        self._messages.send(what, number)
        data = self._waiting().recv(TEXT_BYTES)
        if not data:
            raise JudgeGone("no answer to a request about a worker")
        return data[1:].decode("utf-8", "replace")

    def _waiting(self) -> socket.socket:
        self._messages.socket.settimeout(ANSWER_SECONDS)
        return self._messages.socket


class WorkerKeeper:
    """Keeps the worker of one grading and answers what its judge asks."""

    def __init__(self, own: LocalWorkerFactory) -> None:
        self._own = own
        self._current: WorkerProcess | None = None
        self._open: WorkerProcess | None = None  # the same, as long as no judge has it
        self._beside: dict[int, WorkerProcess] = {}  # more workers of one judge, by the numbers that it gave

    def take(self) -> WorkerProcess | None:
        """Return the worker that nobody has yet; None where there is none, or a judge has it."""
        found, self._open = self._open, None
        return found

    def start(self) -> WorkerProcess:
        """End the worker that runs, if any, and start another."""
        self._end_current()
        self._current = self._open = self._own.start()
        return self._current

    def end(self) -> None:
        """End the worker that runs, if any, and those beside it."""
        self._end_current()
        for number in list(self._beside):
            self._beside.pop(number).kill()

    def _end_current(self) -> None:
        if self._current is not None:
            self._current.kill()
            self._current = self._open = None

    def answer(self, what: str, connection: socket.socket, number: int = 0) -> None:
        """Do what a judge asks for and tell it; a judge that is gone needs no answer. number is that of a worker."""
        connection.settimeout(ANSWER_SECONDS)
        with suppress(OSError):
            if what in ("start", "beside"):
                self._answer_start(connection, number)
            else:
                connection.sendall(SAID + self._said(what, number).encode()[: TEXT_BYTES - 1])

    def _said(self, what: str, number: int) -> str:
        current = self._beside.get(number) if number else self._current
        if what == "end" and number:
            if current is not None:
                self._beside.pop(number).kill()
            return ""
        if what == "end" or current is None:
            self._end_current()
            return ""
        if what == "excess":
            return current.excess() or ""
        return str(current.own() if what == "own" else current.others())

    def _answer_start(self, connection: socket.socket, number: int) -> None:
        try:
            if number:
                started = self._beside[number] = self._own.beside()
            else:
                started = self.start()
                self.take()
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


class Telling:
    """What the work tells, and which of its parts it is at: a learner's values can end it in each."""

    def __init__(self, messages: Messages, shared: SharedStatus) -> None:
        self._messages = messages
        self.shared = shared

    def at(self, part: int) -> None:
        """Note the part that begins; it may take as much processor time as a test."""
        self.shared.at("test", part)
        bounds.bound_time(bounds.TEST_SECONDS)

    def send(self, kind: str, *fields: Any) -> None:
        """Tell one thing."""
        self._messages.send(kind, *fields)


def bounded(work: Work, own: LocalWorkerFactory, most: Bounds) -> Bounded:
    """Have work done in a fork of this process, within bounds, and return what it told.

    Where nothing can be forked it is done here. Raises IsolationRefused where no worker can be started.
    """
    shared = SharedStatus()
    if not FORKS:
        return _here(work, own, shared)

    def body(messages: Messages, workers: Workers) -> None:
        _tried(work, messages, workers, shared)

    lending = WorkerKeeper(own)
    try:
        forked = Forked(lending)
        return _followed(forked, body, shared, most)
    finally:
        lending.end()


def _tried(work: Work, messages: Messages, workers: Workers, shared: SharedStatus) -> None:
    bounds.bound_time(bounds.TEST_SECONDS)
    try:
        work(messages, workers, shared)
        messages.send("done")
    except (MemoryError, JudgeOutOfMemory):
        messages.send("swelled")
    except IsolationRefused as refused:
        messages.send("refused", refused.message, refused.hint)
    except JudgeGone:
        pass
    except Exception as error:
        messages.send("fault", f"{type(error).__name__}: {error}"[:1500])


def _followed(forked: Forked, body: Body, shared: SharedStatus, most: Bounds) -> Bounded:
    told: list[tuple[Any, ...]] = []
    until = time.monotonic() + most.seconds + OVERTIME_SECONDS
    messages = forked.start(body, most.memory_mb)
    reason: tuple[Status, str] | None = None
    try:
        while True:
            kind, fields = messages.receive(until)
            if kind == "done":
                return Bounded(tuple(told))
            if kind in ASKED:
                forked.answer(kind, *fields)
            elif kind == "swelled":
                reason = "over_limit", f"more than {most.memory_mb} MB of memory"
                break
            elif kind == "refused":
                raise IsolationRefused(*fields)
            elif kind == "fault":
                hint = "This is a fault of the grader, not of your code: please report it."
                raise GraderFault(f"the grader failed: {fields[0]}", hint)
            else:
                told.append((kind, *fields))
    except TimeIsUp:
        reason = "timed_out", "more time than the stage has"
    except JudgeGone:
        pass
    finally:
        said = forked.end(True)
    return Bounded(tuple(told), Death(shared.read(), *(reason or said)))


def _here(work: Work, own: LocalWorkerFactory, shared: SharedStatus) -> Bounded:
    """Do the work in this process, where nothing can be forked; its memory has no bound there."""
    told: list[tuple[Any, ...]] = []
    work(_Kept(told), own, shared)  # type: ignore[arg-type]  # takes what is sent, as an end of a connection does
    return Bounded(tuple(told))


class _Kept:
    """Keeps what is sent, in plain form."""

    def __init__(self, told: list[tuple[Any, ...]]) -> None:
        self._told = told

    def send(self, kind: str, *fields: Any) -> None:
        from grader.judging.task import packed

        self._told.append((kind, *packed(fields)))
