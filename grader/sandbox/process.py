"""A learner's process as the trusted side has it: what it loads, and the processes in which its tests run."""

from __future__ import annotations

import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from grader.course.settings import UNSAID
from grader.course.stage import NO_CONTRACT, Contract, Stage
from grader.errors import IsolationRefused
from grader.isolation import tiers
from grader.isolation.workers import Workers
from grader.outcome import Status, Where
from grader.protocol import codec
from grader.protocol.channel import Channel, ChannelClosed, DeadlinePassed
from grader.sandbox.connection import NEXT_TEST, STEPS, Connection, spans
from grader.sandbox.exceptions import WorkerFailed, deeper_of
from grader.sandbox.proxies import Handles
from grader.sandbox.record import MAX_NUMBER, Name, line_of
from grader.submission import Snapshot
from grader.submission.loops import Loops, Span
from grader.submission.parsing import Problem, lines_of
from grader.submission.source import plain_text
from grader.worker.confine import ALONE, COUNTED_APART, OTHERS
from grader.worker.confine import STEPS as COUNTED
from grader.worker.main import CONTROL, TOLD

LOAD_SECONDS = 20.0
COUNTED_SECONDS = 5.0  # for the steps that are counted where a module did not finish loading: the far bound
MAX_OPEN_FILES = 64
MAX_PROCESSES = 64  # of a run; beyond those of others, where the kernel counts them together
MAX_FILE_BYTES = 16 << 20
TRIES, FRESH = 4, 2  # to have a process for a test, and from which on the worker is a fresh one
MOST_NOT_BEGUN = 2  # tests without a process, after which no other one is tried: it is the module that allows none


class LearnerProcess:
    """Gives each test a connection of its own to the learner's module."""

    def __init__(self, job: Job, tier: tiers.Tier, workers: Workers, fork: bool = tiers.FORKS) -> None:
        self.job = job
        self.tier = tier
        self.fork = fork
        self.names: dict[str, Name] = {}
        self.printed = ""
        self.on_request: Callable[[str], None] | None = None  # is told of each request of a test before it is made
        self.seconds_of: Callable[[str], float] | None = None  # how long a call may take, by its label
        self.form: bytes | None = None  # of the module, changed, as marshal has it: each process takes it on
        self.guards: tuple[str, ...] = ()  # what the worker said is up before the learner's module was loaded
        self._before = 0  # tasks that may count with the run's own, when it began
        self._crowded: WorkerFailed | None = None  # why no test of this module will find room
        self._not_begun = 0  # tests that had no process, not even of a fresh worker
        self._fresh = True
        self._workers = workers
        self._started = workers.start()
        self._control = Control(self._started.connection)

    def load(self) -> None:
        """Have the module loaded; LoadFailed where its code does not allow it."""
        try:
            self._load(LOAD_SECONDS + self.job.call_seconds)
        except DeadlinePassed:
            raise LoadFailed(self._unfinished()) from None
        except (ChannelClosed, codec.WireError) as error:
            message = f"the process ended while it loaded {self.job.label} ({error})"
            raise LoadFailed(Problem("import-error", message, None, None)) from None

    def _load(self, seconds: float, steps: int = 0) -> tuple[Span, ...]:
        """Have the module loaded; return where it was when its steps were used up, if they were counted."""
        self._before = self._started.others()
        limits = {
            "AS": self.job.memory_mb << 20, "CPU": int(self.job.cpu_seconds) + 1, "NOFILE": MAX_OPEN_FILES,
            "NPROC": MAX_PROCESSES, OTHERS: self._before, "FSIZE": MAX_FILE_BYTES, "CORE": 0, "MSGQUEUE": 0,
            ALONE: int(self.job.alone), COUNTED: steps,
        }  # fmt: skip
        channel = Channel(self._started.connection)
        deadline = time.monotonic() + seconds
        program = tiers.program_for(self.tier)
        job = self.job
        lent = [list(each) for each in job.lent]
        sent = [job.label, job.source, limits, program, list(job.packages), lent]
        channel.send(codec.Encoder().frame([], sent), deadline)
        self._confined(codec.Decoder().message(*channel.receive(deadline)))
        decoder = codec.Decoder(bounds=codec.Bounds())
        fields = decoder.message(*channel.receive(deadline))
        if steps and len(fields) == 2 and fields[0] == "steps":
            return spans(fields[1])
        self._understand(fields, decoder)
        return ()

    def _unfinished(self) -> Problem:
        """Return why a module did not finish loading: the loop that it was still in, where a second try names one."""
        found: tuple[Span, ...] = ()
        with suppress(Exception):  # an aid: no worker may be left, and the module may end otherwise this time
            self._renewed()
            found = self._load(COUNTED_SECONDS, STEPS)
        loop = Loops(plain_text(self.job.source) or "").of(found)
        if loop is None:
            message = f"{self.job.label} did not finish loading: does it loop at its top level?"
            return Problem("import-error", message, None, None)
        said = f"it was still in the loop of line {loop.line} after {STEPS:,} steps: `{loop.header}`"
        return Problem("import-error", f"{self.job.label} did not finish loading: {said}", loop.line, loop.advice)

    def _confined(self, fields: list[Any]) -> None:
        """Note the guards that are up; IsolationRefused where one fails. No code of the learner's has run yet."""
        match fields:
            case ["confined", list(guards)]:
                self.guards = tuple(map(str, guards))
            case ["unconfined", str(reason)]:
                message = f"isolation {self.tier!r} is unavailable: {reason}"
                raise IsolationRefused(message, "`grader doctor` shows what works here.")
            case _:
                raise codec.WireError("an answer of another form")

    def _understand(self, fields: list[Any], decoder: codec.Decoder) -> None:
        match fields:
            case ["loaded", list(table), [str(printed), _]]:
                self.names = names_of(table)
                self.printed = printed[:2000]
            case ["failed", _, _, description]:
                raise LoadFailed(load_problem(decoder.decode(description), self.job.label))
            case _:
                raise codec.WireError("an answer of another form")

    def open(self, ends_at: float) -> Connection:
        """Return a connection to a process that has seen no test: a fork, or a fresh worker where nothing forks."""
        if not self._started.running():
            self.renew()
        connection = self._opened(ends_at)
        if self.form is not None and connection.failure is None:
            become(connection, self.form)
        return connection

    def _opened(self, ends_at: float) -> Connection:
        if not self.fork:
            if not self._fresh:
                self.renew()
            self._fresh = False
            return self.over(Channel(self._started.connection), ends_at)
        begun = self._begun(ends_at)
        if isinstance(begun, WorkerFailed):  # told of this test by its first request, like any failure of its process
            connection = self.over(Channel(_closed()), ends_at)
            connection.failure = begun
            return connection
        connection = self.over(Channel(begun[1]), ends_at)
        connection.process = begun[0]
        return connection

    def follow(self, before: Connection, ends_at: float) -> Connection:
        """Return the connection of the next test in the process of one that has ended without a failure."""
        made = self.over(before.channel, ends_at, before.names)
        made.tests_before = before.tests_before + 1
        made.process = before.process
        try:
            made.channel.send([NEXT_TEST], min(ends_at, time.monotonic() + self.job.call_seconds))
        except (ChannelClosed, DeadlinePassed):
            made.failure = WorkerFailed("crashed", f"the process that loaded {self.job.label} ended between two tests")
        return made

    def has_changed(self, connection: Connection) -> bool:
        """Say whether tests have left anything behind in the process of a connection, as that process tells.

        One that tells it wrongly gets nothing by it: what it keeps from test to test it could have kept in a file.
        """
        asked = self.over(connection.channel, connection.ends_at)
        asked.on_request = asked.seconds_of = None
        try:
            changed = asked.request("changed", 0, "")
            asked.end()
        except Exception:  # that process does not tell
            return True
        return changed is not False or asked.failure is not None

    def _begun(self, ends_at: float) -> tuple[int, socket.socket] | WorkerFailed:
        """Return a test's process: forked ahead, forked again, or forked from a fresh worker; or why there is none."""
        is_gone = False
        for tries in range(TRIES if self._crowded is None else 0):
            if is_gone or tries == FRESH:
                self.renew()
            try:
                number, ours = self._control.fork()
                if self._control.started(number, min(self.job.call_seconds, max(0.0, ends_at - time.monotonic()))):
                    return number, ours
                ours.close()
                is_gone = False
            except OSError:  # the parent of the tests is gone: one test ended it, the others get a new one
                is_gone = True
        if self._crowded is None:
            failed = not_started(self.job.label) if is_gone else self._no_room()
            self._not_begun += failed.status != "grader_fault"  # what others take up, they may leave again
            if failed.status == "over_limit" or self._not_begun == MOST_NOT_BEGUN:
                self._crowded = failed  # every test would begin so
            return failed
        return self._crowded

    def _no_room(self) -> WorkerFailed:
        is_apart = COUNTED_APART in self.guards
        others = 0 if is_apart else self._started.others()  # counted first: what the run starts meanwhile is its own
        own = self._started.own()
        others = max(0, others - own)
        return no_room(own, others, MAX_PROCESSES + (0 if is_apart else self._before), self.job.label)

    def over(self, channel: Any, ends_at: float, names: dict[str, Name] | None = None) -> Connection:
        """Return the connection of a test over a channel of any kind; names are those of a changed form."""
        made = Connection(
            channel,
            names or self.names,
            self.job.call_seconds,
            ends_at,
            bounds=self.job.bounds,
            contract=self.job.contract,
        )
        made.on_request, made.seconds_of = self.on_request, self.seconds_of
        return made

    def renew(self) -> None:
        self._renewed()
        self.load()

    def _renewed(self) -> None:
        self.kill()
        self._started = self._workers.start()
        self._control = Control(self._started.connection)
        self._fresh = True

    def done(self, connection: Connection) -> tuple[Status, str] | None:
        """End a test's process; where it failed, return what its end tells about why."""
        connection.end()
        if not self.fork:
            if connection.failure is not None:
                self._started.kill()
            return None
        number, connection.process = connection.process, None
        connection.channel.close()
        if number is None:  # its test never began
            return None
        try:
            self._control.end(number)
            if connection.failure is None:
                return None
            status = self._control.status(number, 1.0)
            return None if status is None else _reading(status)
        except OSError:  # the parent of the tests is gone, or does not say
            over = None if connection.failure is None else self._started.excess()
            return ("over_limit", over) if over else None

    def kill(self) -> None:
        self._started.kill()


def _closed() -> socket.socket:
    ours, theirs = socket.socketpair()
    theirs.close()
    return ours


def _reading(status: int) -> tuple[Status, str] | None:
    number = status & 0x7F
    if number == 0:
        return "crashed", f"it ended with exit code {status >> 8 & 0xFF}"
    limits: dict[int, tuple[Status, str]] = {
        getattr(signal, "SIGXCPU", -1): ("timed_out", "it used up its processor time"),
        getattr(signal, "SIGXFSZ", -1): ("over_limit", f"it wrote a file of more than {MAX_FILE_BYTES >> 20} MB"),
        getattr(signal, "SIGSEGV", -1): ("crashed", "segmentation fault"),
    }
    if number == getattr(signal, "SIGKILL", 9):
        return None  # the end that it gets from us says nothing
    return limits.get(number, ("crashed", f"ended by signal {number}"))


SEND_SECONDS = 5.0
MOST = 10_000  # what is heard while one answer is waited for
STARTED, NO_ROOM, ENDED = b"S", b"N", b"E"


class Control:
    """Has processes forked and ended, by number; OSError where the other end is gone."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._serial = 0

    def fork(self) -> tuple[int, socket.socket]:
        """Order a process; return its number and the connection that it will answer on."""
        self._serial += 1
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._connection.settimeout(SEND_SECONDS)
                socket.send_fds(self._connection, [CONTROL.pack(b"F", self._serial)], [theirs.fileno()])
            except OSError:
                ours.close()
                raise
        return self._serial, ours

    def started(self, number: int, seconds: float) -> bool:
        """Say whether a process was started; where nothing is told in that time, its first answer will tell."""
        with suppress(TimeoutError):
            return self._told(number, (STARTED, NO_ROOM), seconds) != (NO_ROOM, 0)
        return True

    def end(self, number: int) -> None:
        self._connection.sendall(CONTROL.pack(b"K", number))

    def status(self, number: int, seconds: float) -> int | None:
        """Return the wait status of a process that was ended, if it is told in that time."""
        told = self._told(number, (ENDED,), seconds)
        return None if told is None else told[1]

    def _told(self, number: int, kinds: tuple[bytes, ...], seconds: float) -> tuple[bytes, int] | None:
        """Return the first of some kinds of message that is about a process; None where too many others come."""
        until = time.monotonic() + seconds
        for _ in range(MOST):
            if (left := until - time.monotonic()) <= 0:
                raise TimeoutError("nothing was told in time")
            self._connection.settimeout(left)
            data = self._connection.recv(TOLD.size, socket.MSG_WAITALL)
            if len(data) != TOLD.size:
                raise ConnectionResetError("the connection ended")
            kind, told, status = TOLD.unpack(data)
            if told == number and kind in kinds:
                return kind, status
        return None


MOST_OF_A_LINE = 100  # characters of a line that is shown
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
    packages: tuple[str, ...] = UNSAID
    lent: tuple[tuple[str, str, bytes], ...] = ()  # name, label and text of modules of earlier stages
    alone: bool = False  # its tests start no process and no thread
    withheld: bool = False  # a reference among them is held back, so that no failure is explained
    contract: Contract = NO_CONTRACT

    @property
    def bounds(self) -> codec.Bounds:
        return codec.Bounds(self.result_mb << 20, self.result_rows)

    def place(self, number: int) -> Where:
        """Return a line of the module as a place, with its text."""
        lines = lines_of(self.source)
        text = lines[number - 1].strip() if 0 < number <= len(lines) else ""
        return Where(self.label, number, text if len(text) <= MOST_OF_A_LINE else f"{text[: MOST_OF_A_LINE - 1]}…")


def job_for(stage: Stage, snapshot: Snapshot, hide: Path) -> Job:
    """Return the job of loading someone's module of a stage; hide is the course, which it is not to see."""
    limits = stage.limits
    return Job(
        snapshot.label, snapshot.source, limits.call_seconds, limits.stage_seconds, limits.memory_mb, hide,
        limits.result_mb, limits.result_rows, stage.packages,
        tuple((each.name, each.label, each.text) for each in snapshot.uses), limits.alone, bool(snapshot.withheld),
        stage.whole_contract,
    )  # fmt: skip


def become(connection: Connection, code: bytes) -> None:
    """Put a changed form of the module, as marshal has it, in its place for one test, before anything else is asked.

    What running it raises is raised here; from then on its names stand for the module's.
    """
    connection.names = names_of(connection.request("become", 0, "", (code,), label="a changed form"))
    connection.handles = Handles(connection, connection.limits, connection.names, connection.contract.members)
    connection.records.clear()


class LoadFailed(Exception):
    """The learner's module cannot be loaded; problem says why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def names_of(table: list[Any]) -> dict[str, Name]:
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


def load_problem(description: Any, label: str) -> Problem:
    match description:
        case [_, str(shown), _, str(message), _, list(frames), _, *more]:
            last = frames[-1] if frames else None
            line = line_of(last[0]) if isinstance(last, list) and last and type(last[0]) is int else None
            deeper = deeper_of(more[1]) if len(more) > 1 else None
            place = f", {deeper}" if deeper else ""
            text = f"{label} fails while it is loaded{place}: {shown[:100]}: {message[:500]}"
            kind: Literal["import", "import-error"] = "import" if shown == "ModuleNotFoundError" else "import-error"
            return Problem(kind, text, line, _of_a_trial(shown, frames))
    raise codec.WireError("an exception of another form")


def _of_a_trial(shown: str, frames: list[Any]) -> str | None:
    """Return what to do about a line of the module itself that calls a function, or asks somebody at a keyboard."""
    match frames:
        case [[int(line), "<module>"], *called] if type(line) is int and (called or shown == "EOFError"):
            does = "calls it" if called else "asks for input"
            return (
                f"Line {line_of(line)} {does} each time the module is loaded. Trials of your own belong under "
                '`if __name__ == "__main__":`, which a check leaves out.'
            )
    return None


FEW = 16  # tasks of a run whose module starts none: a supervisor, the worker, two tests, and what the tier adds


def no_room(own: int, others: int, most: int, label: str) -> WorkerFailed:
    """Return why no process was started: own and others are tasks that run, most how many the kernel lets there be.

    A worker can say without reason that there is no room: then its process failed, and nothing else.
    """
    if own > FEW:
        held = f"{label} holds about {own} processes and threads, where a run may have {most - others}"
        return WorkerFailed("over_limit", f"{held}: no room is left to start this test")
    if own + others >= most:
        held = f"other processes of the user that runs submissions here take up all room ({others} of {most})"
        return WorkerFailed("grader_fault", f"{held}, so that this test could not begin")
    return not_started(label)


def not_started(label: str) -> WorkerFailed:
    """Return what is said where the process that loaded a module starts no test, and nothing else explains it."""
    return WorkerFailed("crashed", f"the process that loaded {label} did not start this test")
