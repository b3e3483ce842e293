"""A learner's process played by hand over a socket pair: it can send whatever bytes it likes, whenever it likes."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgpack
import numpy as np

from grader.course.stage import Contract
from grader.judging.outcomes import Assessor
from grader.judging.running import PHASES, Attempt
from grader.outcome import Outcome, Status
from grader.protocol import codec
from grader.protocol.channel import Channel, ChannelClosed
from grader.sandbox.connection import Connection, RemoteModule
from grader.sandbox.limits import UsageLimits
from grader.sandbox.process import Job
from grader.sandbox.record import Name

NAMES = {"f": Name("function", 1), "g": Name("function", 2), "apply": Name("function", 3), "Layer": Name("class", 4)}
NOTHING: list[Any] = ["", []]
EMPTY = [codec.LIST]


class FakeWorker:
    """The other end of a connection: reads requests as they are and sends what it is told to."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self._channel = Channel(connection)

    def request(self) -> list[Any]:
        """Return the next message from the grader, its values not decoded."""
        return codec.Decoder().message(*self._channel.receive(time.monotonic() + 20))

    def send(self, data: bytes) -> None:
        """Send bytes; give up without a word when nobody is there any more."""
        self._channel.send([data], time.monotonic() + 20)

    def body(self, message: Any, blob: bytes = b"", claimed: int | None = None) -> None:
        """Send a frame with any message that msgpack can carry."""
        packed = msgpack.packb(message, unicode_errors="surrogatepass")
        size = len(blob) if claimed is None else claimed
        self.send(codec.HEADER.pack(codec.MAGIC, len(packed), size) + packed + blob)

    def form(self, serial: int, form: Any, blob: bytes = b"", kind: str = "ok", changes: Any = EMPTY) -> None:
        """Answer a request with the form of a value, right or wrong."""
        self.body([serial, kind, NOTHING, 0.0, form, changes], blob)

    def value(self, serial: int, value: Any) -> None:
        """Answer a request as an honest worker does."""
        frame = codec.Encoder().frame([serial, "ok", NOTHING, 0.0], [value, []])
        self._channel.send(frame, time.monotonic() + 20)

    def answer(self, value: Any) -> None:
        """Wait for a request and answer it as an honest worker does."""
        self.value(self.request()[0], value)

    def forms(self, *forms: Any) -> None:
        """Wait for a request before each of the forms, and answer with it."""
        for form in forms:
            self.form(self.request()[0], form)


def handle(number: int, kind: str = "object", shown: str = "Thing") -> list[Any]:
    """Return the form of an object that stays with the learner."""
    return [codec.HANDLE, number, kind, shown, [], ["Thing"] if kind == "object" else []]


Script = Callable[[FakeWorker], None]
OPERATORS = ("len", "iter", "next", "float", "int", "bool", "str", "contains", "eq")
LENIENT = Contract({"Thing": frozenset(f"__{name}__" for name in OPERATORS)})


@contextlib.contextmanager
def playing(
    script: Script, seconds: float = 5.0, bounds: codec.Bounds | None = None, **limits: int
) -> Iterator[tuple[Any, Connection]]:
    """Give the `learner` of a test whose process follows a script, and its connection."""
    ours, theirs = socket.socketpair()
    left = UsageLimits(3 * seconds, **limits)
    connection = Connection(Channel(ours), dict(NAMES), seconds, time.monotonic() + 60, left, bounds, LENIENT)
    stop = threading.Event()

    def play() -> None:
        with contextlib.suppress(ChannelClosed):
            script(FakeWorker(theirs))
        stop.wait(20)

    player = threading.Thread(target=play, daemon=True)
    player.start()
    try:
        yield RemoteModule(connection, "small.py"), connection
    finally:
        connection.end()
        ours.close()
        stop.set()
        player.join(20)
        theirs.close()
        assert not player.is_alive()


def status_of(connection: Connection, error: BaseException | None) -> Status:
    """Return the outcome of a test that ended with an error, or with none, on this connection."""
    job = Job("small.py", b"", connection.call_seconds, 60, 256, Path())
    attempt: Any = Attempt(_NoItem(), connection, error, set(PHASES))  # type: ignore[arg-type]  # of an item, only marks
    judge: Any = Assessor(None, job, None)  # type: ignore[arg-type]  # without answers the stage is not looked at
    found: Outcome = judge.outcome(Outcome("test", "row", True, "failed"), attempt, None)
    return found.status


class _NoItem:
    def get_closest_marker(self, name: str) -> None:
        """No test of ours is meant to change its arguments."""


def array_form(
    dtype: str = "float64", shape: Any = (2,), fortran: Any = False, offset: Any = 0, writeable: Any = True
) -> list[Any]:
    """Return the form of an array, right or wrong."""
    return [codec.ARRAY, dtype, list(shape) if isinstance(shape, tuple) else shape, fortran, offset, writeable]


TWO = np.arange(2.0).tobytes()


def call_for_ever(worker: FakeWorker) -> None:
    worker.request()
    while True:
        worker.body([0, "callback", 1, [codec.TUPLE, 1], [codec.DICT]])
        worker.request()
