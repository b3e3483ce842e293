"""What a judge tells the process that watches it: frozen records as msgpack, each with its length before it."""

from __future__ import annotations

import socket
import struct
import time
from typing import Any, Protocol

import msgpack

from grader.judging.processes.plain import packed

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
