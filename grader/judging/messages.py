"""What a judge reports to the process that supervises it: records as msgpack, and a note in shared memory."""

from __future__ import annotations

import mmap
import socket
import struct
import time
from collections.abc import Iterable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import msgpack

LENGTH = struct.Struct("<I")
MOST_BYTES = 64 << 20
PIECE = 1 << 16


class JudgeGone(Exception):
    """The other end is closed."""


class TimeIsUp(Exception):
    """Nothing whole arrived before the deadline."""


class Report(Protocol):
    """Takes what a judge has to tell."""

    def send(self, kind: str, *fields: Any) -> None:
        """Tell one thing."""


class Untold:
    """Where nobody is to be told."""

    def send(self, kind: str, *fields: Any) -> None:
        """Tell nothing."""


class Messages:
    """One end of the connection between a judge and the process that watches it; both are trusted."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self._received = bytearray()

    def send(self, kind: str, *fields: Any) -> None:
        """Send one message, records in it as plain values; JudgeGone where nobody takes it."""
        body = msgpack.packb([kind, *packed(fields)], unicode_errors="surrogatepass")
        try:
            self.socket.settimeout(None)
            self.socket.sendall(LENGTH.pack(len(body)) + body)
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
    found = (each for module in modules for each in module)
    return {each.__name__: each for each in found if isinstance(each, type) and is_dataclass(each)}


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
        """Note the phase and the test that begin."""
        self._phase, self._test = PHASES.index(phase), test
        self._write(b"")

    def call(self, label: str) -> None:
        """Note the call that is made."""
        self._write(label.encode("utf-8", "replace")[: SIZE - HEAD.size])

    def _write(self, label: bytes) -> None:
        self._memory[: HEAD.size + len(label)] = HEAD.pack(self._phase, self._test, len(label)) + label

    def read(self) -> At:
        """Return what was noted last."""
        phase, test, length = HEAD.unpack_from(self._memory)
        label = bytes(self._memory[HEAD.size : HEAD.size + length]).decode("utf-8", "ignore")
        return At(PHASES[phase], test, label)
