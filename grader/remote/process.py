"""One learner's process over a whole stage: loaded once, one connection a test, started anew when it dies."""

from __future__ import annotations

import signal
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.errors import IsolationRefused
from grader.isolation import tiers
from grader.outcome import Status
from grader.protocol import codec
from grader.protocol.channel import Channel, ChannelClosed, DeadlinePassed
from grader.remote.connection import Connection
from grader.remote.record import MAX_NUMBER, Name, line_of
from grader.submission.source import Problem
from grader.worker.main import CONTROL, ENDED

LOAD_SECONDS = 20.0
MAX_OPEN_FILES = 64
MAX_PROCESSES = 64  # beyond those that the worker's user has already
MAX_FILE_BYTES = 16 << 20
MAX_NAMES = 2000
KINDS = ("function", "class", "exception", "value")


@dataclass(frozen=True)
class Job:
    """What a learner's process is to load, and the limits that it runs under."""

    label: str
    source: bytes
    call_seconds: float
    cpu_seconds: float
    memory_mb: int
    hide: Path
    result_mb: int = 4
    result_rows: int = 65536

    @property
    def bounds(self) -> codec.Bounds:
        """What one result may be."""
        return codec.Bounds(self.result_mb << 20, self.result_rows)


class LoadFailed(Exception):
    """The learner's module cannot be loaded; problem says why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class LearnerProcess:
    """Gives each test a connection of its own to the learner's module."""

    def __init__(self, job: Job, tier: tiers.Tier, started: tiers.Started, fork: bool = tiers.FORKS) -> None:
        self.job = job
        self.tier = tier
        self.fork = fork
        self.names: dict[str, Name] = {}
        self.printed = ""
        self.guards: tuple[str, ...] = ()  # what the worker said is up before the learner's module was loaded
        self._serial = 0
        self._numbers: dict[int, int] = {}  # of each test's process, by the connection's id
        self._spare: tuple[int, socket.socket] | None = None
        self._key: str | None = None
        self._fresh = True
        self._started = started

    def load(self) -> None:
        """Have the module loaded; LoadFailed where its code does not allow it."""
        limits = {
            "AS": self.job.memory_mb << 20, "CPU": int(self.job.cpu_seconds) + 1, "NOFILE": MAX_OPEN_FILES,
            "NPROC": MAX_PROCESSES + tiers.tasks_of_worker(), "FSIZE": MAX_FILE_BYTES, "CORE": 0, "MSGQUEUE": 0,
        }  # fmt: skip
        channel = Channel(self._started.connection)
        deadline = time.monotonic() + LOAD_SECONDS + self.job.call_seconds
        try:
            program = tiers.program_for(self.tier)
            channel.send(codec.Encoder().frame([], [self.job.label, self.job.source, limits, program]), deadline)
            self._confined(codec.Decoder().message(*channel.receive(deadline)))
            decoder = codec.Decoder(bounds=codec.Bounds())
            fields = decoder.message(*channel.receive(deadline))
            self._understand(fields, decoder)
        except DeadlinePassed:
            message = f"{self.job.label} did not finish loading: does it loop at its top level?"
            raise LoadFailed(Problem("import-error", message, None, None)) from None
        except (ChannelClosed, codec.WireError) as error:
            message = f"the process ended while it loaded {self.job.label} ({error})"
            raise LoadFailed(Problem("import-error", message, None, None)) from None

    def _confined(self, fields: list[Any]) -> None:
        """Note the guards that are up; IsolationRefused where one fails. No code of the learner's has run yet."""
        match fields:
            case ["confined", list(guards)]:
                self.guards = tuple(map(str, guards))
            case ["unconfined", str(reason)]:
                message = f"isolation {self.tier!r} is not available: {reason}"
                raise IsolationRefused(message, "`grader doctor` shows what works here.")
            case _:
                raise codec.WireError("an answer of another form")

    def _understand(self, fields: list[Any], decoder: codec.Decoder) -> None:
        match fields:
            case ["loaded", list(table), [str(printed), _]]:
                self.names = _names(table)
                self.printed = printed[:2000]
            case ["failed", _, _, description]:
                raise LoadFailed(_load_problem(decoder.decode(description), self.job.label))
            case _:
                raise codec.WireError("an answer of another form")

    def open(self, key: str, ends_at: float) -> Connection:
        """Return the connection of a new test; without forks, tests with the same key share a process."""
        if self._started.process.poll() is not None:
            self._restart()
        if not self.fork:
            if not self._fresh and key != self._key:
                self._restart()
            self._key, self._fresh = key, False
            return self._connection(self._started.connection, ends_at)
        try:
            number, ours = self._taken()
        except OSError:  # the parent of the tests is gone: one test ended it, the others get a new one
            self._restart()
            number, ours = self._taken()
        connection = self._connection(ours, ends_at)
        self._numbers[id(connection)] = number
        return connection

    def _connection(self, end: socket.socket, ends_at: float) -> Connection:
        return Connection(Channel(end), self.names, self.job.call_seconds, ends_at, bounds=self.job.bounds)

    def _taken(self) -> tuple[int, socket.socket]:
        """Return the process that was forked ahead, and have the next one forked while this test runs."""
        taken = self._spare or self._forked()
        self._spare = None
        try:
            self._spare = self._forked()
        except OSError:
            taken[1].close()
            raise
        return taken

    def _forked(self) -> tuple[int, socket.socket]:
        self._serial += 1
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._started.connection.settimeout(5)
                socket.send_fds(self._started.connection, [CONTROL.pack(b"F", self._serial)], [theirs.fileno()])
            except OSError:
                ours.close()
                raise
        return self._serial, ours

    def _restart(self) -> None:
        self.kill()
        self._started = tiers.start(self.tier, self.job.hide, self.fork)
        self._fresh = True
        self.load()

    def done(self, connection: Connection) -> tuple[Status, str] | None:
        """End a test's process; where it failed, return what its end tells about why."""
        connection.end()
        if not self.fork:
            if connection.failure is not None:
                self._started.kill()
            return None
        connection.channel.close()
        number = self._numbers.pop(id(connection), 0)
        try:
            self._started.connection.sendall(CONTROL.pack(b"K", number))
            return None if connection.failure is None else self._why(number)
        except OSError:  # the parent of the tests is gone, or does not say
            over = None if connection.failure is None else self._started.excess()
            return ("over_limit", over) if over else None

    def _why(self, number: int) -> tuple[Status, str] | None:
        """Return what the wait status of a test's process says, if it is told within a second."""
        control = self._started.connection
        control.settimeout(1)
        for _ in range(10_000):
            data = control.recv(ENDED.size, socket.MSG_WAITALL)
            if len(data) != ENDED.size:
                raise ConnectionResetError("the connection ended")
            ended, status = ENDED.unpack(data)
            if ended == number:
                return _reading(status)
        return None

    def kill(self) -> None:
        """End the process and everything that it started."""
        if self._spare is not None:
            self._spare[1].close()
            self._spare = None
        self._started.kill()


def _reading(status: int) -> tuple[Status, str] | None:
    number = status & 0x7F
    if number == 0:
        return "crashed", f"it left with exit code {status >> 8 & 0xFF}"
    limits: dict[int, tuple[Status, str]] = {
        getattr(signal, "SIGXCPU", -1): ("timed_out", "it used up its processor time"),
        getattr(signal, "SIGXFSZ", -1): ("over_limit", f"it wrote a file of more than {MAX_FILE_BYTES >> 20} MB"),
        getattr(signal, "SIGSEGV", -1): ("crashed", "segmentation fault"),
    }
    if number == getattr(signal, "SIGKILL", 9):
        return None  # the end that it gets from us says nothing
    return limits.get(number, ("crashed", f"ended by signal {number}"))


def _names(table: list[Any]) -> dict[str, Name]:
    """Return the public names of a module; WireError for a table that no honest process sends."""
    if len(table) > MAX_NAMES:
        raise codec.WireError(f"more than {MAX_NAMES} public names")
    names: dict[str, Name] = {}
    kinds: dict[int, str] = {}
    for row in table:
        match row:
            case [str(name), str(kind), int(number), list(bases)] if kind in KINDS and 0 <= number < MAX_NUMBER:
                if (kind == "value") != (number == 0) or kinds.setdefault(number, kind) != kind:
                    raise codec.WireError("a name whose number is of something else")
                names[name] = Name(kind, number, tuple(base[:100] for base in bases[:20] if type(base) is str))
            case _:
                raise codec.WireError("a name of another form")
    return names


def _load_problem(description: Any, label: str) -> Problem:
    match description:
        case [_, str(shown), _, str(message), _, list(frames), _]:
            last = frames[-1] if frames else None
            line = line_of(last[0]) if isinstance(last, list) and last and type(last[0]) is int else None
            text = f"{label} stops while it is loaded: {shown[:100]}: {message[:500]}"
            return Problem("import" if shown == "ModuleNotFoundError" else "import-error", text, line, None)
    raise codec.WireError("an exception of another form")
