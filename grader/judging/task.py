"""A judge's task, what the judge reports to the process that watches it, and what becomes of the task.

Reports are records as msgpack, and a note in shared memory.
"""

from __future__ import annotations

import mmap
import socket
import struct
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgpack

from grader.outcome import Outcome, Status
from grader.submission.parsing import Problem

if TYPE_CHECKING:
    from grader.diagnosis.answers import Answers
    from grader.isolation.tiers import Tier
    from grader.judging.grading_options import Options
    from grader.judging.pytest_suite import Suite
    from grader.sandbox.process import Job
    from grader.sandbox.recorded import Plan


LENGTH = struct.Struct("<I")
MOST_BYTES = 64 << 20
PIECE = 1 << 16


class JudgeGone(Exception):
    """The other end is closed."""


class TimeIsUp(Exception):
    """Nothing whole arrived before the deadline."""


class Messages:
    """One end of the connection between a judge and the process that watches it; both are trusted."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self._received = bytearray()
        self._held = bytearray()

    def hold(self, kind: str, *fields: Any) -> None:
        """Send one message, records in it as plain values, with the next: each that goes out wakes the other end."""
        body = msgpack.packb([kind, *packed(fields)], unicode_errors="surrogatepass")
        self._held += LENGTH.pack(len(body)) + body

    def send(self, kind: str, *fields: Any) -> None:
        """Send what is held and one message; JudgeGone where nobody takes it."""
        self.hold(kind, *fields)
        self.flush()

    def flush(self) -> None:
        """Send what is held."""
        held, self._held = self._held, bytearray()
        try:
            self.socket.settimeout(None)
            self.socket.sendall(held)
        except OSError as error:
            raise JudgeGone(str(error)) from None

    def receive(self, deadline: float | None = None) -> tuple[str, list[Any]]:
        """Return the next message's kind and fields; TimeIsUp at the (monotonic) deadline, JudgeGone at the end."""
        self._fill(LENGTH.size, deadline)
        (length,) = LENGTH.unpack_from(self._received)
        if length > MOST_BYTES:
            raise JudgeGone(f"a message of {length} bytes")
        whole = LENGTH.size + length
        self._fill(whole, deadline)
        kind, *fields = msgpack.unpackb(self._received[LENGTH.size : whole], unicode_errors="surrogatepass")
        del self._received[:whole]
        return kind, fields

    def _fill(self, count: int, deadline: float | None) -> None:
        """Receive until so many bytes are there; what has arrived before the deadline is kept."""
        while len(self._received) < count:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise TimeIsUp
            self.socket.settimeout(left)
            try:
                piece = self.socket.recv(PIECE)
            except TimeoutError:
                raise TimeIsUp from None
            except OSError as error:
                raise JudgeGone(str(error)) from None
            if not piece:
                raise JudgeGone("the connection ended")
            self._received += piece

    def close(self) -> None:
        self.socket.close()


class Untold(Messages):
    """Messages that nobody is to be told."""

    def __init__(self) -> None:
        pass

    def hold(self, kind: str, *fields: Any) -> None:
        pass

    def flush(self) -> None:
        pass


NAME = "\0"  # the key under which a record's class stands; no field has such a name
Classes = dict[str, type[Any]]


def packed(value: Any) -> Any:
    """Return records, tuples and mappings as what msgpack carries; numbers of NumPy become Python's.

    >>> packed((1, None))
    [1, None]
    """
    if is_dataclass(value) and not isinstance(value, type):
        own = {field.name: packed(getattr(value, field.name)) for field in fields(value) if field.init}
        return {NAME: type(value).__name__, **own}
    if isinstance(value, (list, tuple)):
        return [packed(item) for item in value]
    if isinstance(value, dict):
        return {key: packed(item) for key, item in value.items()}
    return value.item() if hasattr(value, "item") else value


def unpacked(plain: Any, classes: Classes) -> Any:
    """Return what packed made plain, its sequences as tuples; KeyError for a record of a class that is not given."""
    if isinstance(plain, list):
        return tuple(unpacked(item, classes) for item in plain)
    if isinstance(plain, dict):
        own = {key: unpacked(item, classes) for key, item in plain.items() if key != NAME}
        return classes[plain[NAME]](**own) if NAME in plain else own
    return plain


def records(*modules: Iterable[Any]) -> Classes:
    """Return the record classes among some values, by name."""
    return {each.__name__: each for each in chain(*modules) if isinstance(each, type) and is_dataclass(each)}


Phase = Literal["loading", "test", "reference", "explaining", "settling"]
PHASES: tuple[Phase, ...] = ("loading", "test", "reference", "explaining", "settling")
HEAD = struct.Struct("<BIH")  # phase, number of the test, bytes of the label
SIZE = 512


@dataclass(frozen=True)
class At:
    """The phase, the number of the test, and the last call that the test made."""

    phase: Phase
    test: int
    label: str


class SharedStatus:
    """One note, written over and over, in memory that forks share; where nothing forks, in a file that both map."""

    def __init__(self, file: Path | None = None) -> None:
        if file is None:
            self._memory = mmap.mmap(-1, SIZE)
        else:
            with file.open("r+b") as opened:
                self._memory = mmap.mmap(opened.fileno(), SIZE)
        self._phase = 0
        self._test = 0

    def at(self, phase: Phase, test: int) -> None:
        self._phase, self._test = PHASES.index(phase), test
        self.call("")

    def call(self, name: str) -> None:
        label = name.encode("utf-8", "replace")[: SIZE - HEAD.size]
        self._memory[: HEAD.size + len(label)] = HEAD.pack(self._phase, self._test, len(label)) + label

    def read(self) -> At:
        phase, test, length = HEAD.unpack_from(self._memory)
        label = bytes(self._memory[HEAD.size : HEAD.size + length]).decode("utf-8", "ignore")
        return At(PHASES[phase], test, label)


EXPLAINED: tuple[Status, ...] = ("failed", "crashed", "timed_out", "over_limit")  # for which a cause is looked for
OVERTIME_SECONDS = 3.0  # after a stage's time, for what a judge is at to end: a verdict comes within 5 s of it

SEARCH_SECONDS = 300.0  # of wall time: the far bound of looking for causes, which counts trials and not seconds
POOL_CALL_SECONDS = 5.0  # of wall time for one exchange with a module of a pool: the far bound


class JudgeOutOfMemory(BaseException):
    """A judge has no more memory; what its next step would find is not to be relied on."""


def expect_memory(error: BaseException | None) -> None:
    """Raise JudgeOutOfMemory where an error means that this process, not the learner's, has no more memory."""
    if isinstance(error, MemoryError) and not hasattr(error, "learner_frames"):
        raise JudgeOutOfMemory


@dataclass(frozen=True)
class JudgeTask:
    """All that one judge works on: the suite, the module and its worker's tier, how to grade, and where to begin.

    ends_at is when the time is used up, on the monotonic clock. answers makes what explains wrong answers; nothing
    does without. first_failure holds criteria to run first: then the first test that does not pass ends the run,
    nothing is explained, and whether the reference passes is not asked. plan is what the tests ask with this seed,
    where known.

    For a judge that follows another: doubted says that the one before it ended in the first test, so that only the
    reference runs that one; done holds the places of tests that have an outcome, slow_criteria criteria that timed out.
    """

    suite: Suite
    job: Job
    tier: Tier
    options: Options
    ends_at: float
    shared: SharedStatus
    answers: Callable[[], Answers] | None = None
    first_failure: tuple[str, ...] | None = None
    plan: Plan | None = None
    first: int = 0
    doubted: bool = False
    slow_criteria: frozenset[str] = frozenset()
    done: frozenset[int] = frozenset()

    @property
    def criteria_first(self) -> tuple[str, ...]:
        return self.first_failure or (*filter(None, (self.options.only,)), *self.options.ahead)

    @property
    def searches(self) -> bool:
        """Whether causes are looked for beside the known mistakes."""
        return self.suite.stage.feedback == self.options.feedback == "full"

    def needed(self, criteria: Sequence[str], ended: Mapping[int, Outcome]) -> list[int]:
        """Return the places of the tests that are needed; criteria has each test's own, ended what came of some.

        It is all of them, but where one criterion was asked for and nothing of it needs a cause: where something does,
        what the other tests ask and are answered is evidence, so that the cause is that of a whole check.
        """
        own = [place for place, criterion in enumerate(criteria) if criterion == self.options.only]
        is_enough = all(place in ended and ended[place].status not in EXPLAINED for place in own)
        return own if self.options.only is not None and is_enough else list(range(len(criteria)))


@dataclass(frozen=True)
class Findings:
    """What came of a task: every test that had to end, every outcome, and what stood in the way.

    expected is (test, criterion, hidden) of each test; faults are mistakes of the course; names are those of the
    stage's functions that the module defines. passing holds, of tests that passed against answers to planned questions,
    the digest of all these answers; strayed are tests that asked something else than was planned.
    """

    expected: tuple[tuple[str, str, bool], ...]
    outcomes: tuple[Outcome, ...] = ()
    faults: tuple[str, ...] = ()
    problem: Problem | None = None
    names: frozenset[str] = frozenset()
    passing: Mapping[str, bytes] = field(default_factory=dict)
    strayed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Death:
    """A judge that ended before it was done: where it was, the status that this gives its test, and the reason."""

    at: At
    status: Status
    reason: str
